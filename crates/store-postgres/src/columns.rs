//! The arguments of `commit_batch`, column by column, in the order of `sql/commit.sql`. The first of them are all that
//! `append_batch` takes.

use tokio_postgres::types::{ToSql, Type};

/// A value and its type, as a statement without a name needs them.
pub(crate) type Argument<'a> = (&'a (dyn ToSql + Sync), Type);

macro_rules! columns {
    ($($(#[$doc:meta])* $name:ident: $item:ty => $sql:ident,)*) => {
        /// Every column of one call; see `sql/commit.sql` for what they mean.
        #[derive(Debug, Default)]
        pub(crate) struct Columns {
            $($(#[$doc])* pub(crate) $name: Vec<$item>,)*
        }

        impl Columns {
            /// All of them.
            pub(crate) fn arguments(&self) -> Vec<Argument<'_>> {
                vec![$((&self.$name as &(dyn ToSql + Sync), Type::$sql)),*]
            }
        }
    };
}

columns! {
    p_number: i64 => INT8_ARRAY,
    p_stream: i64 => INT8_ARRAY,
    p_epoch: i64 => INT8_ARRAY,
    p_nonce: i64 => INT8_ARRAY,
    p_seq: i64 => INT8_ARRAY,
    p_seen: i64 => INT8_ARRAY,
    p_bytes: Vec<u8> => BYTEA_ARRAY,
    p_count: i32 => INT4_ARRAY,
    p_inbox: i32 => INT4_ARRAY,
    p_events: i32 => INT4_ARRAY,
    p_events_min: i32 => INT4_ARRAY,
    p_progress: bool => BOOL_ARRAY,
    c_number: i64 => INT8_ARRAY,
    c_target: i16 => INT2_ARRAY,
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

impl Columns {
    /// How many are about plain appends: the first ones.
    pub(crate) const OF_APPENDS: usize = 12;

    /// Whether there is nothing but plain appends.
    pub(crate) fn only_append(&self) -> bool {
        self.c_number.is_empty()
    }

    /// Leaves out what is not said of usual appends, if there are only such: one record, no event, and progress. Columns
    /// that say nothing cost as much to read as others.
    pub(crate) fn leave_out_usual(&mut self) {
        let are = |column: &[i32], value: i32| column.iter().all(|item| *item == value);
        let have_no_events = are(&self.p_events, 0) && are(&self.p_events_min, 0);
        let are_single = are(&self.p_count, 1) && are(&self.p_inbox, 0);
        if are_single && have_no_events && self.p_progress.iter().all(|progress| *progress) {
            self.p_count.clear();
            self.p_inbox.clear();
            self.p_events.clear();
            self.p_events_min.clear();
            self.p_progress.clear();
        }
    }

    /// The numbers of all commits.
    pub(crate) fn numbers(&self) -> impl Iterator<Item = i64> {
        self.c_number.iter().chain(&self.p_number).copied()
    }
}
