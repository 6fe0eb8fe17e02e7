//! Limits. Each is checked where data enters, with an error that names the limit.

use std::time::Duration;

/// Bytes of a run id.
pub const RUN_ID_BYTES_MAX: usize = 255;
/// Characters of a name of a step, event, workflow, branch or collection.
pub const NAME_CHARS_MAX: usize = 256;
/// Bytes of one payload: an input, a result, an event, an answer.
pub const PAYLOAD_BYTES_MAX: usize = 1024 * 1024;
/// Bytes of one payload above which the engine warns.
pub const PAYLOAD_BYTES_WARN: usize = 256 * 1024;
/// Events of a run that no wait has consumed.
pub const UNCONSUMED_EVENTS_MAX: u64 = 10_000;
/// Bytes of the unconsumed events of a run, if all were as large as the event that arrives.
pub const UNCONSUMED_BYTES_MAX: u64 = 16 * 1024 * 1024;
/// Bytes of a dedup id or an idempotency key.
pub const KEY_BYTES_MAX: usize = 512;
/// Tags of one run.
pub const TAGS_MAX: usize = 32;
/// Characters of one tag.
pub const TAG_CHARS_MAX: usize = 128;
/// Bytes of the value of an attribute, as JSON.
pub const ATTRIBUTE_BYTES_MAX: usize = 256;
/// Nested causes of a failure; further causes are left out.
pub const CAUSES_MAX: usize = 64;
/// Takeovers without progress after which a run is parked.
pub const TAKEOVERS_MAX: u32 = 10;
/// Records of a journal above which the engine warns that replay becomes slow.
pub const JOURNAL_RECORDS_WARN: u64 = 50_000;
/// Bytes of a journal in memory above which a node does not execute its run, unless it is
/// configured otherwise.
pub const JOURNAL_BYTES_MAX: u64 = 1024 * 1024 * 1024;
/// Minimum time for which a loop keeps the reply to a request in the journal, because the sender
/// looks for it there.
pub const REPLY_KEPT: Duration = Duration::from_secs(60);
/// Iterations of a loop that are kept only because of a reply.
pub const ANSWERED_ITERATIONS_MAX: usize = 100;
/// Runs on one page of a list.
pub const LIST_PAGE_MAX: usize = 1_000;
/// Steps of the comparison of a payload with its schema.
pub const SCHEMA_STEPS_MAX: u64 = 5_000_000;
