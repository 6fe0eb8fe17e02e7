//! The arguments of the calls that commit, column by column, in the order of `sql/commit.sql` and
//! `sql/batch.sql`.

use tokio_postgres::types::{ToSql, Type};

use crate::connection::argument::Argument;

macro_rules! columns {
    ($(#[$about:meta])* $list:ident: $($name:ident: $item:ty => $sql:ident,)*) => {
        $(#[$about])*
        #[derive(Debug, Default)]
        pub(crate) struct $list {
            $(pub(crate) $name: Vec<$item>,)*
        }

        impl $list {
            pub(crate) const COUNT: usize = [$(stringify!($name)),*].len();

            pub(crate) fn arguments(&self) -> Vec<Argument<'_>> {
                vec![$((&self.$name as &(dyn ToSql + Sync), Type::$sql)),*]
            }
        }
    };
}

columns! {
    /// The commits that are judged; see `sql/commit.sql` for what the columns mean.
    Columns:
    c_number: i64 => INT8_ARRAY,
    c_kind: i16 => INT2_ARRAY,
    c_slot: i32 => INT4_ARRAY,
    c_flags: i32 => INT4_ARRAY,
    c_epoch: i64 => INT8_ARRAY,
    c_nonce: i64 => INT8_ARRAY,
    c_seq: i64 => INT8_ARRAY,
    c_seen: i64 => INT8_ARRAY,
    c_now: i64 => INT8_ARRAY,
    c_begins: i64 => INT8_ARRAY,
    c_count: i32 => INT4_ARRAY,
    c_bytes: Option<Vec<u8>> => BYTEA_ARRAY,
    c_inbox: i32 => INT4_ARRAY,
    c_events: i32 => INT4_ARRAY,
    c_events_min: i32 => INT4_ARRAY,
    c_lease: i16 => INT2_ARRAY,
    c_lease_node: i64 => INT8_ARRAY,
    c_lease_nonce: i64 => INT8_ARRAY,
    c_gate: i16 => INT2_ARRAY,
    c_status: i16 => INT2_ARRAY,
    c_supersedes: i32 => INT4_ARRAY,
    c_dedup: i32 => INT4_ARRAY,
    c_run: i32 => INT4_ARRAY,
    g_commit: i32 => INT4_ARRAY,
    g_kind: i16 => INT2_ARRAY,
    g_number: i64 => INT8_ARRAY,
    g_row: i32 => INT4_ARRAY,
    g_value: Option<Vec<u8>> => BYTEA_ARRAY,
    g_place: Option<i64> => INT8_ARRAY,
    s_number: i64 => INT8_ARRAY,
    s_with_run: bool => BOOL_ARRAY,
    n_name: Vec<u8> => BYTEA_ARRAY,
    k_kind: i16 => INT2_ARRAY,
    k_stream: Option<i64> => INT8_ARRAY,
    k_key: Vec<u8> => BYTEA_ARRAY,
    k_due: Option<i64> => INT8_ARRAY,
    k_mode: i16 => INT2_ARRAY,
    o_commit: i32 => INT4_ARRAY,
    o_row: i32 => INT4_ARRAY,
    o_put: bool => BOOL_ARRAY,
    o_value: Option<Vec<u8>> => BYTEA_ARRAY,
    o_place: Option<i64> => INT8_ARRAY,
    o_placing: i16 => INT2_ARRAY,
    m_commit: i32 => INT4_ARRAY,
    m_slot: i32 => INT4_ARRAY,
    x_commit: i32 => INT4_ARRAY,
    x_first: i64 => INT8_ARRAY,
    x_last: i64 => INT8_ARRAY,
    r_id: String => TEXT_ARRAY,
    r_generation: i64 => INT8_ARRAY,
    r_workflow: String => TEXT_ARRAY,
    r_version: i64 => INT8_ARRAY,
    r_status: i16 => INT2_ARRAY,
    r_created: i64 => INT8_ARRAY,
    r_updated: i64 => INT8_ARRAY,
    r_tags: String => TEXT_ARRAY,
}

columns! {
    /// The commits that are plain; see `sql/plain.sql`.
    PlainColumns:
    p_number: i64 => INT8_ARRAY,
    p_stream: i64 => INT8_ARRAY,
    p_epoch: i64 => INT8_ARRAY,
    p_nonce: i64 => INT8_ARRAY,
    p_seq: i64 => INT8_ARRAY,
    p_seen: i64 => INT8_ARRAY,
    p_count: i32 => INT4_ARRAY,
    p_bytes: Vec<u8> => BYTEA_ARRAY,
    t_number: i64 => INT8_ARRAY,
    t_stream: i64 => INT8_ARRAY,
    t_epoch: i64 => INT8_ARRAY,
    t_nonce: i64 => INT8_ARRAY,
    t_seq: i64 => INT8_ARRAY,
    t_seen: i64 => INT8_ARRAY,
    t_bytes: Vec<u8> => BYTEA_ARRAY,
    t_count: i32 => INT4_ARRAY,
    t_inbox: i32 => INT4_ARRAY,
    t_events: i32 => INT4_ARRAY,
    t_events_min: i32 => INT4_ARRAY,
    t_progress: bool => BOOL_ARRAY,
    t_inbox_seen: i64 => INT8_ARRAY,
    t_leaves: bool => BOOL_ARRAY,
    t_closes: bool => BOOL_ARRAY,
    t_status: i16 => INT2_ARRAY,
    t_now: i64 => INT8_ARRAY,
    b_number: i64 => INT8_ARRAY,
    b_name: Vec<u8> => BYTEA_ARRAY,
    b_bytes: Vec<u8> => BYTEA_ARRAY,
    b_count: i32 => INT4_ARRAY,
    b_inbox: i32 => INT4_ARRAY,
    b_events: i32 => INT4_ARRAY,
    b_ready: bool => BOOL_ARRAY,
    b_node: Option<i64> => INT8_ARRAY,
    b_nonce: Option<i64> => INT8_ARRAY,
    b_id: String => TEXT_ARRAY,
    b_workflow: String => TEXT_ARRAY,
    b_version: i64 => INT8_ARRAY,
    b_status: i16 => INT2_ARRAY,
    b_created: i64 => INT8_ARRAY,
    b_updated: i64 => INT8_ARRAY,
    b_tags: String => TEXT_ARRAY,
}

impl PlainColumns {
    /// The number of columns for steps, which come first.
    pub(crate) const OF_STEPS: usize = 8;

    /// Whether all commits are steps.
    pub(crate) fn are_steps(&self) -> bool {
        self.t_number.is_empty() && self.b_number.is_empty()
    }
}
