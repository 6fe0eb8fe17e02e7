//! The outside world: fakes of Spotify, Twitch and a database in this process. A real program has
//! clients of real services here. The fake takes time, records its calls, and ignores repeated
//! calls where the real service would. Unlike the real services, it loses its data when the process
//! is killed.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use everstep::schemars::{self, JsonSchema};
use serde::{Deserialize, Serialize};

/// A song.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Track {
    /// Spotify's ID of the track.
    pub id: String,
    /// The title.
    pub title: String,
}

/// The tracks of Spotify: IDs and titles.
pub const CATALOGUE: [(&str, &str); 2] = [
    ("4uLU6hMCjMI75M1A2tKUQC", "Never Gonna Give You Up"),
    ("6habFhsOp2NvshLv26DqMb", "Despacito"),
];

/// Errors of the services.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum ServiceError {
    /// Spotify has no such track.
    #[error("Spotify has no track `{0}`")]
    NoSuchTrack(String),
    /// Twitch refuses.
    #[error("Twitch refuses to fulfill `{0}`")]
    Refused(String),
    /// Spotify has no active player.
    #[error("Spotify finds no player")]
    NoPlayer,
}

/// A handle to the services. Clones share them.
#[derive(Clone, Debug, Default)]
pub struct World {
    /// Duration of a call.
    latency: Duration,
    /// Whether calls are printed.
    aloud: bool,
    /// The redemption that Twitch refuses to fulfill.
    refused: Option<String>,
    /// Whether skipping fails.
    no_player: bool,
    /// Whether Spotify does not answer.
    stalled: bool,
    state: Arc<Mutex<State>>,
}

#[derive(Debug, Default)]
struct State {
    /// All calls, in order.
    effects: Vec<String>,
    /// The database: songs and rolls by redemption.
    songs: BTreeMap<String, Track>,
    rolls: BTreeMap<String, u32>,
    /// The track that Spotify plays now.
    playing: Option<String>,
    /// The redemptions that are fulfilled or refunded.
    settled: BTreeMap<String, Settled>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Settled {
    Fulfilled,
    Refunded,
}

impl World {
    /// Creates services whose calls take this long.
    #[must_use]
    pub fn slow(latency: Duration) -> Self {
        Self {
            latency,
            ..Self::default()
        }
    }

    /// Prints all calls.
    #[must_use]
    pub fn aloud(mut self) -> Self {
        self.aloud = true;
        self
    }

    /// Makes Twitch refuse to fulfill this redemption.
    #[must_use]
    pub fn refusing(mut self, redemption: &str) -> Self {
        self.refused = Some(redemption.to_owned());
        self
    }

    /// Makes Spotify accept calls and never answer them.
    #[must_use]
    pub fn stalled(mut self) -> Self {
        self.stalled = true;
        self
    }

    /// Makes skipping fail because there is no active player.
    #[must_use]
    pub fn without_player(mut self) -> Self {
        self.no_player = true;
        self
    }

    /// Returns all calls, in order.
    #[must_use]
    pub fn effects(&self) -> Vec<String> {
        self.state().effects.clone()
    }

    /// Spotify: starts playing a track.
    pub fn play(&self, track: &str) {
        self.state().playing = Some(track.to_owned());
    }

    /// Spotify: looks up a track.
    ///
    /// # Errors
    /// Fails if there is no such track.
    pub async fn track(&self, id: &str) -> Result<Track, ServiceError> {
        self.take_time().await;
        if self.stalled {
            std::future::pending::<()>().await;
        }
        let found = CATALOGUE.iter().find(|(known, _)| *known == id);
        let (id, title) = found.ok_or_else(|| ServiceError::NoSuchTrack(id.to_owned()))?;
        Ok(Track {
            id: (*id).to_owned(),
            title: (*title).to_owned(),
        })
    }

    /// Spotify: adds a track to the player's queue.
    pub async fn enqueue(&self, track: &Track) {
        self.take_time().await;
        self.record(&format!("spotify: queued {}", track.title));
    }

    /// Spotify: whether a track is playing.
    pub async fn is_playing(&self, track: &Track) -> bool {
        self.take_time().await;
        self.state().playing.as_ref() == Some(&track.id)
    }

    /// Spotify: skips a track when its turn comes.
    ///
    /// # Errors
    /// Fails if there is no active player.
    pub async fn skip(&self, track: &Track) -> Result<(), ServiceError> {
        self.take_time().await;
        if self.no_player {
            return Err(ServiceError::NoPlayer);
        }
        self.record(&format!("spotify: will skip {}", track.title));
        Ok(())
    }

    /// Database: saves the song of a redemption, once.
    pub async fn save_song(&self, redemption: &str, track: &Track) {
        self.take_time().await;
        let saved = self
            .state()
            .songs
            .insert(redemption.to_owned(), track.clone());
        if saved.is_none() {
            self.record(&format!("database: saved the song of {redemption}"));
        }
    }

    /// Database: deletes the song of a redemption, if there is one.
    pub async fn delete_song(&self, redemption: &str) {
        self.take_time().await;
        let deleted = self.state().songs.remove(redemption);
        if deleted.is_some() {
            self.record(&format!("database: deleted the song of {redemption}"));
        }
    }

    /// Database: saves a roll, once.
    pub async fn save_roll(&self, redemption: &str, roll: u32) {
        self.take_time().await;
        let saved = self.state().rolls.insert(redemption.to_owned(), roll);
        if saved.is_none() {
            self.record(&format!("database: saved the roll of {redemption}"));
        }
    }

    /// Database: deletes a roll, if there is one.
    pub async fn delete_roll(&self, redemption: &str) {
        self.take_time().await;
        let deleted = self.state().rolls.remove(redemption);
        if deleted.is_some() {
            self.record(&format!("database: deleted the roll of {redemption}"));
        }
    }

    /// Analytics: records a request.
    pub async fn remember(&self, track: &Track) {
        self.take_time().await;
        self.record(&format!("analytics: {} was asked for", track.title));
    }

    /// Twitch: fulfills a redemption and keeps its points, once.
    ///
    /// # Errors
    /// Fails if Twitch refuses or the points were refunded.
    pub async fn fulfill(&self, redemption: &str) -> Result<(), ServiceError> {
        self.take_time().await;
        if self.refused.as_deref() == Some(redemption) {
            return Err(ServiceError::Refused(redemption.to_owned()));
        }
        self.settle(redemption, Settled::Fulfilled)
    }

    /// Twitch: refunds the points of a redemption, once.
    ///
    /// # Errors
    /// Fails if the redemption was fulfilled.
    pub async fn refund(&self, redemption: &str) -> Result<(), ServiceError> {
        self.take_time().await;
        self.settle(redemption, Settled::Refunded)
    }

    /// Twitch: sends a chat message.
    pub async fn chat(&self, text: &str) {
        self.take_time().await;
        self.record(&format!("chat: {text}"));
    }

    fn settle(&self, redemption: &str, how: Settled) -> Result<(), ServiceError> {
        let before = self.state().settled.insert(redemption.to_owned(), how);
        match before {
            None => {
                let verb = match how {
                    Settled::Fulfilled => "fulfilled",
                    Settled::Refunded => "refunded",
                };
                self.record(&format!("twitch: {verb} {redemption}"));
                Ok(())
            }
            Some(before) if before == how => Ok(()),
            Some(before) => {
                self.state().settled.insert(redemption.to_owned(), before);
                Err(ServiceError::Refused(redemption.to_owned()))
            }
        }
    }

    async fn take_time(&self) {
        tokio::time::sleep(self.latency).await;
    }

    fn record(&self, effect: &str) {
        if self.aloud {
            println!("    {effect}");
        }
        self.state().effects.push(effect.to_owned());
    }

    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
