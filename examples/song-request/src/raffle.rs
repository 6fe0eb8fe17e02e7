//! The keyboard raffle: a viewer pays points for one roll. The winning number gets the keyboard,
//! all others get a message.
//!
//! The roll is random, which is allowed inside a step: the result is recorded, and every replay,
//! after a crash or for debugging, returns the same numbers. A crash does not give the viewer
//! another roll.

use std::hash::{BuildHasher, Hasher, RandomState};

use everstep::schemars::{self, JsonSchema};
use everstep::{Ctx, Error, Result, Workflow};
use serde::{Deserialize, Serialize};

use crate::redemption::{self, CALL};
use crate::world::World;

/// The dice have numbers from 1 to this.
const SIDES: u32 = 100;

/// A viewer rolls for the keyboard.
#[derive(Clone, Debug, Default)]
pub struct Raffle {
    /// The services it uses.
    pub world: World,
}

/// The input of a run.
#[derive(Clone, Debug, Serialize, Deserialize, JsonSchema)]
pub struct RaffleInput {
    /// The redemption that the viewer paid for.
    pub redemption: String,
    /// The name of the viewer.
    pub viewer: String,
}

/// The result of a run.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct RaffleResult {
    /// The winning number.
    pub winning: u32,
    /// The number that the viewer rolled.
    pub roll: u32,
}

impl RaffleResult {
    /// Whether the viewer won the keyboard.
    #[must_use]
    pub fn is_won(&self) -> bool {
        self.roll == self.winning
    }
}

impl Workflow for Raffle {
    const NAME: &'static str = "raffle";
    type Input = RaffleInput;
    type Output = RaffleResult;
    type Interface = ();

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
        .timeout(CALL)
        .retry_timeouts()
        .await?;

        // The viewer has rolled, so the points are kept in both cases.
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
        .timeout(CALL)
        .best_effort()
        .await?;
        Ok(result)
    }
}

/// Rolls the dice. The keys of the standard library's hash maps come from the system's randomness.
async fn throw() -> Result<u32> {
    let random = RandomState::new().build_hasher().finish();
    let below = u32::try_from(random % u64::from(SIDES))?;
    Ok(below + 1)
}

#[cfg(test)]
mod tests;
