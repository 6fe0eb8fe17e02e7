//! Children and messages in random workflows: operations as data, and the results of executing
//! them.

use everstep::journal::record::ParentClose;
use everstep::schemars::{self, JsonSchema};
use everstep::{AnyEvent, Ctx, EngineBuilder, Error, Payload, Result, Retry, Workflows, millis};
use proptest::prelude::*;
use serde::{Deserialize, Serialize};

use crate::program::{Witness, event_name};

/// An operation of a random workflow that affects other runs.
#[derive(Clone, Debug, Serialize, Deserialize, JsonSchema)]
pub(crate) enum FamilyOp {
    /// A child that takes a while and may fail, with a timeout.
    Child {
        takes_ms: u16,
        fails: bool,
        timeout_ms: Option<u16>,
        policy: u8,
        /// Whether it can be undone, and the number of attempts to undo it that fail first.
        undo_failures: Option<u8>,
    },
    /// The first of a child and a sleep; the other is dropped.
    ChildOrSleep { takes_ms: u16, sleep_ms: u16 },
    /// A detached child.
    Detached { takes_ms: u16 },
    /// An event to the run itself, or to one that does not exist.
    Send { event: u8, to_itself: bool },
}

pub(crate) fn family() -> impl Strategy<Value = FamilyOp> {
    prop_oneof![
        3 => (0u16..40, any::<bool>(), prop::option::of(1u16..40), 0u8..3, prop::option::of(0u8..2))
            .prop_map(|(takes_ms, fails, timeout_ms, policy, undo_failures)| FamilyOp::Child {
                takes_ms,
                fails,
                timeout_ms,
                policy,
                undo_failures,
            }),
        1 => (0u16..30, 0u16..30)
            .prop_map(|(takes_ms, sleep_ms)| FamilyOp::ChildOrSleep { takes_ms, sleep_ms }),
        1 => (0u16..30).prop_map(|takes_ms| FamilyOp::Detached { takes_ms }),
        2 => (0u8..2, any::<bool>())
            .prop_map(|(event, to_itself)| FamilyOp::Send { event, to_itself }),
    ]
}

/// The workflow of all children.
pub(crate) fn register(builder: EngineBuilder) -> EngineBuilder {
    builder.workflows(Workflows::new().function(
        "leaf",
        |ctx: Ctx<AnyEvent>, (takes_ms, fails, grown): (u16, bool, String)| async move {
            if takes_ms > 0 {
                ctx.sleep("grow", millis(u64::from(takes_ms))).await?;
            }
            let work = || async { Ok::<_, Error>(grown.clone()) };
            let grown = ctx.step("leaf", work).await?;
            if fails {
                return Err(Error::fatal("withered"));
            }
            Ok(grown)
        },
    ))
}

pub(crate) async fn run_family(
    ctx: &Ctx<AnyEvent>,
    op: &FamilyOp,
    location: &str,
    witness: &Witness,
) -> Result<String> {
    let leaf = |takes_ms: u16, fails: bool| {
        let input = Payload::from_value(&(takes_ms, fails, format!("{location} grown")));
        input.map(|input| ctx.child_by_name("leaf", input))
    };
    Ok(match op {
        FamilyOp::Child {
            takes_ms,
            fails,
            timeout_ms,
            policy,
            undo_failures,
        } => {
            let policies = [
                ParentClose::Cancel,
                ParentClose::Terminate,
                ParentClose::Abandon,
            ];
            let child = leaf(*takes_ms, *fails)?;
            let mut child = child.on_parent_close(policies[usize::from(*policy)]);
            if let Some(failures) = *undo_failures {
                let witness = witness.clone();
                let undo = move |output: Payload| async move {
                    witness.undo(&output.decode::<String>()?, failures)
                };
                child = child.undo(undo).undo_retry(Retry::constant(3, millis(6)));
            }
            let ended = match timeout_ms {
                Some(timeout_ms) => child.timeout(millis(u64::from(*timeout_ms))).await,
                None => child.await.map(Some),
            };
            outcome_text(ended)?
        }
        FamilyOp::ChildOrSleep { takes_ms, sleep_ms } => {
            let child = leaf(*takes_ms, false)?;
            let sleep = ctx.sleep("patience", millis(u64::from(*sleep_ms)));
            tokio::select! {
                biased;
                // A second pass may find another child with its result at this location.
                result = child => outcome_text(result.map(Some))?,
                slept = sleep => {
                    slept?;
                    "out of patience".to_owned()
                }
            }
        }
        FamilyOp::Detached { takes_ms } => leaf(*takes_ms, false)?.detach().await?.to_string(),
        FamilyOp::Send { event, to_itself } => {
            let to = if *to_itself { "r" } else { "nobody" };
            ctx.send_by_name(
                to,
                event_name(*event),
                Payload::from_value(&number_of(location))?,
            )?;
            "sent".to_owned()
        }
    })
}

/// Returns a number that differs from those of other locations.
fn number_of(location: &str) -> u32 {
    let bytes = location.bytes();
    bytes.fold(0, |number, byte| {
        number.wrapping_mul(31).wrapping_add(u32::from(byte))
    })
}

/// Returns the outcome of a child as data.
fn outcome_text(ended: Result<Option<Payload>>) -> Result<String> {
    match ended {
        Ok(result) => Ok(format!("{result:?}")),
        Err(error) => match error.child_failure() {
            Some(child) => Ok(format!("{}: {}", child.location, child.error)),
            None => Err(error),
        },
    }
}
