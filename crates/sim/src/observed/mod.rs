//! What a simulation observes: the expected journals with the checks that run at each commit and
//! read, the history of the store, and the ledger of side effects and requests.
//!
//! | file | invariants |
//! |---|---|
//! | `appending` | 1 to 5, 14 (one dedup id), 24, 26: what a commit may append |
//! | `firing` | 19, 20, 21: timers |
//! | `journals` | 6: a repeated commit; 13: creations and idempotency keys |
//! | `reading` | 1, 18: what a read returns |
//! | `removing` | 31: what a removal may remove |
//! | `waking` | 29: a run that has something to do has its ready mark |

mod appending;
mod firing;
mod history;
mod journals;
mod ledger;
mod reading;
mod removing;
#[cfg(test)]
pub(crate) mod samples;
mod stream;
mod violation;
mod waking;

pub(crate) use firing::check_clock;
pub use history::{History, StoreChange};
pub(crate) use history::{describe_batch, describe_outcomes};
pub use journals::Journals;
pub use ledger::{Attempt, Deletion, Ledger, SendOutcome, SendTry};
pub use stream::Stream;
pub use violation::Violation;
