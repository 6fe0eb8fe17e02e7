//! The write path.

pub(crate) mod answer;
pub(crate) mod call;
pub(crate) mod columns;
pub(crate) mod commit;
pub(crate) mod framed;
pub(crate) mod judged;
pub(crate) mod plain;
pub(crate) mod plain_answer;
pub(crate) mod plain_batch;
pub(crate) mod row_slots;
