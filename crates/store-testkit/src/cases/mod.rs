//! The contract as cases, one file per topic. Every public function here is named in a macro of
//! this crate.

pub mod commit;
pub mod creation;
pub mod dedup;
pub mod fencing;
pub mod gate;
pub mod inbox_guard;
pub mod lease;
pub mod list;
pub mod outbox;
pub mod read;
pub mod ready;
pub mod removal;
pub mod reopen;
pub mod resending;
pub mod rows;
pub mod shared_rows;
pub mod time_guard;
pub mod timers;
pub mod user_streams;
