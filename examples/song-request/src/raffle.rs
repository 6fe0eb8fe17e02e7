//! The keyboard raffle: a viewer pays points for one roll. Whoever rolls the winning number gets the keyboard; everybody
//! else gets a message.
//!
//! The dice are real ones. That is fine inside a step: what they showed is recorded, and whoever replays the run, after a
//! crash or to see why somebody lost, gets the same numbers. Nobody can roll again by pulling the plug.

use std::hash::{BuildHasher, Hasher, RandomState};

use everstep::{Ctx, Error, Result, Workflow};
use serde::{Deserialize, Serialize};

use crate::redemption;
use crate::world::World;

/// The dice have numbers from 1 to this.
const SIDES: u32 = 100;

/// Lets a viewer roll for the keyboard.
#[derive(Clone, Debug, Default)]
pub struct Raffle {
    /// The services it works with.
    pub world: World,
}

/// What a run is started with.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct RaffleInput {
    /// The points the viewer paid.
    pub redemption: String,
    /// Who rolls.
    pub viewer: String,
}

/// What a run returns.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct RaffleResult {
    /// The number that wins.
    pub winning: u32,
    /// The number the viewer rolled.
    pub roll: u32,
}

impl RaffleResult {
    /// Whether the viewer has a new keyboard.
    #[must_use]
    pub fn is_won(&self) -> bool {
        self.roll == self.winning
    }
}

impl Workflow for Raffle {
    const NAME: &'static str = "raffle";
    type Input = RaffleInput;
    type Output = RaffleResult;

    async fn run(&self, ctx: Ctx<Self>, input: RaffleInput) -> Result<RaffleResult> {
        let redemption = &input.redemption;
        redemption::hold(&ctx, &self.world, redemption).await?;

        let winning = ctx.step("generate-winning-number", throw).await?;
        let roll = ctx.step("generate-user-roll", throw).await?;
        let result = RaffleResult { winning, roll };

        let (world, id) = (self.world.clone(), redemption.clone());
        ctx.step("record-roll", || async {
            self.world.save_roll(redemption, roll).await;
            Ok::<_, Error>(())
        })
        .undo(move |()| async move {
            world.delete_roll(&id).await;
            Ok::<_, Error>(())
        })
        .await?;

        // Losers have had their roll too, so the points are kept either way.
        redemption::fulfill(&ctx, &self.world, redemption).await?;

        ctx.step("send-chat-message", || async {
            let verb = if result.is_won() { "wins" } else { "loses" };
            let text = format!(
                "@{} rolls {roll} against {winning} and {verb}",
                input.viewer
            );
            self.world.chat(&text).await;
            Ok::<_, Error>(())
        })
        .best_effort()
        .await?;
        Ok(result)
    }
}

/// Throws the dice. The standard library draws the keys of its hash maps from the system's randomness; this is one of them.
async fn throw() -> Result<u32> {
    let random = RandomState::new().build_hasher().finish();
    let below = u32::try_from(random % u64::from(SIDES))?;
    Ok(below + 1)
}

#[cfg(test)]
mod tests;
