//! An evening on the channel: three song requests and a raffle arrive at the webhook, with a
//! success and two refunds. Run it, kill it with `kill -9`, and run it again: it continues where it
//! was, even during a rollback.

use std::future::IntoFuture;

use everstep::{Engine, Handle, WaitError, Workflow, Workflows, millis};
use everstep_protocol::client::Connection;
use everstep_song_request::raffle::{Raffle, RaffleInput};
use everstep_song_request::song::{SongRequest, SongRequestInput};
use everstep_song_request::webhook::{self, Accepted, Redemption};
use everstep_song_request::world::{CATALOGUE, World};
use tokio::net::TcpListener;

type Failure = Box<dyn std::error::Error>;

#[tokio::main]
async fn main() -> Result<(), Failure> {
    let folder = std::env::args().nth(1);
    let folder = folder.unwrap_or_else(|| "target/song-request".to_owned());
    println!("Kill this with `kill -9` at any time and run it again: it continues where it was.");
    println!("Data is in {folder}; delete it to start over.");

    let world = World::slow(millis(200)).aloud().refusing("redemption-3");
    let engine = Engine::open(&folder)
        .workflows(
            Workflows::new()
                .workflow(SongRequest {
                    world: world.clone(),
                })
                .workflow(Raffle { world }),
        )
        .start()
        .await?;

    let listener = TcpListener::bind("127.0.0.1:0").await?;
    let twitch = Connection::to(&format!("http://{}", listener.local_addr()?))?;
    let serving =
        tokio::spawn(axum::serve(listener, webhook::routes(engine.clone())).into_future());

    let [(first, _), (second, _)] = CATALOGUE;
    println!("\nAda asks for a song:");
    let link = format!("https://open.spotify.com/track/{first}?si=42");
    redeem::<SongRequest>(&twitch, &engine, song("redemption-1", "ada", &link)).await?;

    println!("\nBob asks for something else:");
    let link = "https://example.com/my-mixtape";
    redeem::<SongRequest>(&twitch, &engine, song("redemption-2", "bob", link)).await?;

    println!("\nCleo asks for a song, but Twitch does not take the points:");
    let link = format!("spotify:track:{second}");
    redeem::<SongRequest>(&twitch, &engine, song("redemption-3", "cleo", &link)).await?;

    println!("\nDan rolls for the keyboard:");
    let roll = Redemption::Raffle(RaffleInput {
        redemption: "redemption-4".to_owned(),
        viewer: "dan".to_owned(),
    });
    redeem::<Raffle>(&twitch, &engine, roll).await?;

    serving.abort();
    engine.shutdown().await;
    Ok(())
}

fn song(redemption: &str, viewer: &str, url: &str) -> Redemption {
    Redemption::Song(SongRequestInput {
        redemption: redemption.to_owned(),
        viewer: viewer.to_owned(),
        url: url.to_owned(),
    })
}

/// Calls the webhook as Twitch does, and shows what becomes of the redemption.
async fn redeem<W>(
    twitch: &Connection,
    engine: &Engine,
    redemption: Redemption,
) -> Result<(), Failure>
where
    W: Workflow<Output: std::fmt::Debug>,
{
    let accepted: Accepted = twitch.post("redemptions", &redemption).await?;
    let run = engine.run_of::<W>(&accepted.run).await?;
    if !accepted.created {
        println!("    (already started; now {})", run.status().await?);
    }
    show(run).await
}

/// Waits for the end of a run and prints it. Some of these sagas are supposed to fail.
async fn show<W>(run: Handle<W>) -> Result<(), Failure>
where
    W: Workflow<Output: std::fmt::Debug>,
{
    match run.wait().await {
        Ok(output) => println!("  completed: {output:?}"),
        Err(WaitError::Failed(failure)) => {
            let undone = run.inspect().await?.overview.rolled_back;
            let rolled_back = if undone { ", and rolled back" } else { "" };
            println!("  failed{rolled_back}: {failure}");
        }
        Err(other) => return Err(other.into()),
    }
    Ok(())
}
