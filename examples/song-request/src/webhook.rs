//! The HTTP entry. Twitch calls it for each redemption, and again if it gets no answer; each
//! redemption becomes one run.
//!
//! | request | answer |
//! |---|---|
//! | `POST /redemptions` with a [`Redemption`] | 202: the id of its run, and whether this request created it |
//! | `GET /redemptions/{id}` | 200: the status of its run |

use axum::extract::{Path, State};
use axum::http::StatusCode;
use axum::routing::{get, post};
use axum::{Json, Router};
use everstep::{Engine, RunStatus};
use serde::{Deserialize, Serialize};

use crate::raffle::{Raffle, RaffleInput};
use crate::redemption::DEADLINE;
use crate::song::{SongRequest, SongRequestInput};

/// A reward that a viewer paid for.
#[derive(Clone, Debug, Serialize, Deserialize)]
#[serde(tag = "reward", rename_all = "snake_case")]
pub enum Redemption {
    /// A song.
    Song(SongRequestInput),
    /// A roll of the dice.
    Raffle(RaffleInput),
}

/// The answer to a redemption.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Accepted {
    /// The id of the run, which is that of the redemption.
    pub run: String,
    /// Whether this request started the run. It is false if Twitch repeats a call.
    pub created: bool,
}

/// The state of a redemption.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Progress {
    /// The status of its run.
    pub status: RunStatus,
}

/// An error, with the status that makes Twitch repeat the call or not.
type Refused = (StatusCode, String);

/// Returns the routes of the webhook.
pub fn routes(engine: Engine) -> Router {
    Router::new()
        .route("/redemptions", post(redeem))
        .route("/redemptions/{id}", get(progress))
        .with_state(engine)
}

async fn redeem(
    State(engine): State<Engine>,
    Json(redemption): Json<Redemption>,
) -> Result<(StatusCode, Json<Accepted>), Refused> {
    // The id of the redemption is the id of the run, so a call that Twitch repeats starts nothing.
    let (run, created) = match &redemption {
        Redemption::Song(input) => {
            let start = engine.start::<SongRequest>(input).id(&input.redemption);
            let run = start.deadline(DEADLINE).await.map_err(try_again)?;
            (run.id().to_string(), run.created())
        }
        Redemption::Raffle(input) => {
            let start = engine.start::<Raffle>(input).id(&input.redemption);
            let run = start.deadline(DEADLINE).await.map_err(try_again)?;
            (run.id().to_string(), run.created())
        }
    };
    // The start is durable, so Twitch may forget the call.
    Ok((StatusCode::ACCEPTED, Json(Accepted { run, created })))
}

async fn progress(
    State(engine): State<Engine>,
    Path(id): Path<String>,
) -> Result<Json<Progress>, Refused> {
    let run = engine.run(&id).await.map_err(unknown)?;
    let status = run.status().await.map_err(unknown)?;
    Ok(Json(Progress { status }))
}

fn try_again(error: impl std::fmt::Display) -> Refused {
    (StatusCode::SERVICE_UNAVAILABLE, error.to_string())
}

fn unknown(error: impl std::fmt::Display) -> Refused {
    (StatusCode::NOT_FOUND, error.to_string())
}

#[cfg(test)]
mod tests;
