//! A song request: a viewer pays points for a song, which is looked up, queued and announced, or
//! paid back.
//!
//! | step | its undo | if it fails |
//! |---|---|---|
//! | `hold-redemption` | refunds the points | it cannot |
//! | `parse-spotify-url` | | rollback at once: trying again does not mend a link |
//! | `get-track-info` | | retried, then rollback |
//! | `persist-request` | deletes the song; internal, so it runs even after the point of no return | retried, then rollback |
//! | `add-to-spotify-queue` | skips the song if it can, unless it plays already | retried, then rollback |
//! | `write-history` | | never mind |
//! | `fulfill-redemption` | none: **the point of no return** | rollback |
//! | `send-chat-confirmation` | | never mind |
//!
//! Every call has a timeout, and the run has a deadline ([`redemption::DEADLINE`]): a viewer whose
//! song cannot be queued gets the points back within ten minutes.

use everstep::schemars::{self, JsonSchema};
use everstep::{Ctx, Error, Result, Retry, Workflow, millis};
use serde::{Deserialize, Serialize};

use crate::redemption::{self, CALL};
use crate::world::{ServiceError, Track, World};

/// Plays a song that a viewer requested.
#[derive(Clone, Debug, Default)]
pub struct SongRequest {
    /// The services it uses.
    pub world: World,
}

/// The input of a run. Use the redemption's ID as the ID of the run, so that a webhook that is
/// delivered twice starts one run.
#[derive(Clone, Debug, Serialize, Deserialize, JsonSchema)]
pub struct SongRequestInput {
    /// The redemption that the viewer paid for.
    pub redemption: String,
    /// The name of the viewer.
    pub viewer: String,
    /// A link to a Spotify track.
    pub url: String,
}

/// The input is not a link to a track.
#[derive(Debug, thiserror::Error)]
#[error("`{0}` is not a link to a Spotify track")]
pub struct InvalidUrl(String);

impl Workflow for SongRequest {
    const NAME: &'static str = "song-request";
    type Input = SongRequestInput;
    type Output = Track;
    type Interface = ();

    async fn run(&self, ctx: Ctx<Self>, input: SongRequestInput) -> Result<Track> {
        let redemption = &input.redemption;
        redemption::hold(&ctx, &self.world, redemption).await?;

        let track_id = ctx
            .step("parse-spotify-url", || async {
                parse(&input.url).map_err(|invalid| Error::from(invalid).non_retryable())
            })
            .await?;

        let track = ctx
            .step("get-track-info", || self.track_info(&track_id))
            .timeout(CALL)
            .retry_timeouts()
            .retry(Retry::exponential(5, millis(500)))
            .await?;

        // Saved under the redemption's ID, so that a repeated attempt has no effect. The row
        // belongs to this application alone, so its undo is internal: a moderator who cancels the
        // run late still removes the song.
        let (world, id) = (self.world.clone(), redemption.clone());
        ctx.step("persist-request", || async {
            self.world.save_song(redemption, &track).await;
            Ok::<_, Error>(())
        })
        .undo(move |()| async move {
            world.delete_song(&id).await;
            Ok::<_, Error>(())
        })
        .undo_internal()
        .timeout(CALL)
        .retry_timeouts()
        .await?;

        // Spotify has no idempotency keys: a crash between the call and its record queues the song
        // twice. That is harmless here. Otherwise, check the queue inside the step first.
        let world = self.world.clone();
        ctx.step("add-to-spotify-queue", || async {
            self.world.enqueue(&track).await;
            Ok::<_, Error>(track.clone())
        })
        .undo(move |track| take_back(world, track))
        .timeout(CALL)
        .retry_timeouts()
        // The undo makes two calls.
        .undo_timeout(CALL * 2)
        .await?;

        ctx.step("write-history", || async {
            self.world.remember(&track).await;
            Ok::<_, Error>(())
        })
        .timeout(CALL)
        .best_effort()
        .await?;

        redemption::fulfill(&ctx, &self.world, redemption).await?;

        // The song is queued and paid for. An unavailable chat must not fail the run.
        ctx.step("send-chat-confirmation", || async {
            let text = format!("@{} {} is in the queue", input.viewer, track.title);
            self.world.chat(&text).await;
            Ok::<_, Error>(())
        })
        .timeout(CALL)
        .best_effort()
        .await?;
        Ok(track)
    }
}

impl SongRequest {
    /// All errors of a step are retried, unless they are permanent.
    async fn track_info(&self, id: &str) -> Result<Track> {
        match self.world.track(id).await {
            Err(unknown @ ServiceError::NoSuchTrack(_)) => {
                Err(Error::from(unknown).non_retryable())
            }
            found => Ok(found?),
        }
    }
}

/// Spotify cannot remove a track from its queue. The undo skips it when its turn comes, unless it
/// is already playing. An undo can inspect the outside world and decide, like any other code.
async fn take_back(world: World, track: Track) -> Result<()> {
    if world.is_playing(&track).await {
        return Ok(());
    }
    // Best effort: an undo that fails permanently stops the rollback, and the refund after it
    // matters more than a song.
    let _ = world.skip(&track).await;
    Ok(())
}

/// Extracts the track ID from `https://open.spotify.com/track/<id>` or `spotify:track:<id>`.
fn parse(url: &str) -> Result<String, InvalidUrl> {
    let rest = url
        .strip_prefix("https://open.spotify.com/track/")
        .or_else(|| url.strip_prefix("spotify:track:"));
    let id = rest.and_then(|rest| rest.split('?').next());
    let is_id = |id: &&str| id.len() == 22 && id.chars().all(|c| c.is_ascii_alphanumeric());
    id.filter(is_id)
        .map(str::to_owned)
        .ok_or_else(|| InvalidUrl(url.to_owned()))
}

#[cfg(test)]
mod tests;
