//! An evening on the channel: three song requests and a raffle, with a success and two refunds. Run
//! it, kill it with `kill -9`, and run it again: it continues where it was, even during a rollback.

use everstep::{Engine, Handle, WaitError, Workflow, Workflows, millis};
use everstep_song_request::raffle::{Raffle, RaffleInput};
use everstep_song_request::song::{SongRequest, SongRequestInput};
use everstep_song_request::world::{CATALOGUE, World};

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

    let [(first, _), (second, _)] = CATALOGUE;
    println!("\nAda asks for a song:");
    let link = format!("https://open.spotify.com/track/{first}?si=42");
    show(request(&engine, "redemption-1", "ada", &link).await?).await?;

    println!("\nBob asks for something else:");
    let link = "https://example.com/my-mixtape";
    show(request(&engine, "redemption-2", "bob", link).await?).await?;

    println!("\nCleo asks for a song, but Twitch does not take the points:");
    let link = format!("spotify:track:{second}");
    show(request(&engine, "redemption-3", "cleo", &link).await?).await?;

    println!("\nDan rolls for the keyboard:");
    let input = RaffleInput {
        redemption: "redemption-4".to_owned(),
        viewer: "dan".to_owned(),
    };
    show(engine.start::<Raffle>(&input).id("redemption-4").await?).await?;

    engine.shutdown().await;
    Ok(())
}

async fn request(
    engine: &Engine,
    redemption: &str,
    viewer: &str,
    url: &str,
) -> Result<Handle<SongRequest>, Failure> {
    let input = SongRequestInput {
        redemption: redemption.to_owned(),
        viewer: viewer.to_owned(),
        url: url.to_owned(),
    };
    Ok(engine.start::<SongRequest>(&input).id(redemption).await?)
}

/// Waits for the end of a run and prints it. Some of these sagas are supposed to fail.
async fn show<W>(run: Handle<W>) -> Result<(), Failure>
where
    W: Workflow<Output: std::fmt::Debug>,
{
    if !run.created() {
        println!("    (already started; now {})", run.status().await?);
    }
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
