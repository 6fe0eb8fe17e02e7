//! What must hold, by the numbers of the invariants. Online checks look at every call as it takes effect, offline checks
//! at the books when everything has come to rest. Each can fail: its tests show it a history that is wrong.
//!
//! | file | invariants |
//! |---|---|
//! | `appending` | 1 to 5, 14 (one dedup id), 24, 26: what a commit may append |
//! | `journals` | 6: a commit sent again; the books themselves |
//! | `reading` | 1, 4, 18: what a reader sees |
//! | `restoring` | 7: the same history gives the same store |
//! | `replaying` | 7, 12: a journal replays to the same end |
//! | `steps` | 8, 9, 10, 11 |
//! | `starting` | 13 |
//! | `events` | 14, 15, 16 |
//! | `children` | 17 |
//! | `firing` | 19, 20, 21 |
//! | `undoing` | 22, 23 |
//! | `pausing` | 25 |
//! | `ending` | 16 (a cancellation), 26 and the outcome each program must have |
//! | `liveness` | 21, 28, 29 |
//! | `waking` | 29: what has something to do has its mark |
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
mod starting;
mod steps;
mod undoing;

use everstep_canonical::Scenario;

pub use liveness::Watch;
pub use read_back::check_journals;

use crate::cluster::World;
use crate::observed::Violation;

/// What can be checked of canonical workflows beyond that: their journals replay.
pub fn check_story(world: &World, story: &Scenario) -> Vec<Violation> {
    let journals = world.journals();
    let replayed = journals
        .streams()
        .map(|stream| replaying::check_canonical(stream, story));
    replayed.flatten().collect()
}

/// Everything that can be checked once nothing moves any more.
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
        found.extend(ending::check_answers(&journals, &ledger));
        found.extend(ending::check_outcomes(&journals, &ledger));
        found.extend(removing::check(&journals, &ledger, world.plan.kept_for));
        found.extend(steps::check_ledger(&ledger));
    }
    found.extend(reading::check_store(world));
    found.extend(restoring::check(world));
    found
}
