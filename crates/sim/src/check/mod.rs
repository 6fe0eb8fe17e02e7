//! The checks that run at the end of a simulation, with the numbers of the invariants. The checks
//! that run at each call are in `observed`. The tests of a check show that it fails for a wrong
//! history.
//!
//! | file | invariants |
//! |---|---|
//! | `reading` | 1, 4, 18: what the store contains at the end |
//! | `restoring` | 7: the same history gives the same store |
//! | `replaying` | 7, 12: a journal replays to the same end |
//! | `steps` | 8, 9, 10, 11 |
//! | `starting` | 13 |
//! | `events` | 14, 15, 16 |
//! | `children` | 17 |
//! | `undoing` | 22, 23 |
//! | `pausing` | 25 |
//! | `ending` | 16 (a cancellation), 26 and the results that a program can have |
//! | `liveness` | 21, 28, 29 |
//! | `removing` | 31 |

mod children;
mod ending;
mod events;
mod liveness;
mod pausing;
mod read_back;
mod reading;
mod removing;
mod replaying;
mod restoring;
mod reviving;
mod starting;
mod steps;
mod undoing;

use everstep_canonical::Scenario;

pub use liveness::Watch;
pub use read_back::check_journals;

use crate::cluster::World;
use crate::observed::Violation;

/// Checks that the journals of a canonical workflow replay.
pub fn check_canonical_journals(world: &World, scenario: &Scenario) -> Vec<Violation> {
    let journals = world.journals();
    let replayed = journals
        .streams()
        .map(|stream| replaying::check_canonical(stream, scenario));
    replayed.flatten().collect()
}

/// Runs all checks at the end of a simulation.
pub fn check_all(world: &World) -> Vec<Violation> {
    let mut found = Vec::new();
    {
        let (journals, ledger) = (world.journals(), world.ledger());
        for stream in journals.streams() {
            found.extend(steps::check(stream));
            found.extend(events::check(stream));
            found.extend(children::check(stream));
            found.extend(undoing::check(stream));
            found.extend(pausing::check(stream));
            found.extend(ending::check_end(stream));
            found.extend(ending::check_cancelled(stream));
            found.extend(replaying::check(stream));
        }
        found.extend(children::check_family(&journals));
        found.extend(starting::check(&journals, &ledger));
        found.extend(events::check_sent(&journals, &ledger));
        found.extend(reviving::check(&journals));
        found.extend(ending::check_answers(&journals, &ledger));
        found.extend(ending::check_outcomes(&journals, &ledger));
        found.extend(removing::check(&journals, &ledger, world.plan.kept_for));
        found.extend(steps::check_ledger(&ledger));
    }
    found.extend(reading::check_store(world));
    found.extend(restoring::check(world));
    found
}
