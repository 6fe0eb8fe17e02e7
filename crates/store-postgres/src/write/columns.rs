//! The arguments of the calls that commit, column by column, in the order of `sql/commit.sql` and
//! `sql/batch.sql`.

use crate::connection::argument::{Argument, arguments};

macro_rules! columns {
    ($(#[$about:meta])* $list:ident: $($name:ident: $item:ty,)*) => {
        $(#[$about])*
        #[derive(Debug, Default)]
        pub(crate) struct $list {
            $(pub(crate) $name: Vec<$item>,)*
        }

        impl $list {
            pub(crate) const COUNT: usize = [$(stringify!($name)),*].len();

            pub(crate) fn arguments(&self) -> [Argument<'_>; Self::COUNT] {
                arguments![$(self.$name),*]
            }
        }
    };
}

columns! {
    /// Commits that are judged. `sql/commit.sql` describes the columns.
    Columns:
    c_number: i64, c_kind: i16, c_slot: i32, c_flags: i32,
    c_epoch: i64, c_nonce: i64, c_seq: i64, c_seen: i64,
    c_now: i64, c_begins: i64, c_count: i32, c_bytes: Option<Vec<u8>>,
    c_inbox: i32, c_events: i32, c_events_min: i32,
    c_lease: i16, c_lease_node: i64, c_lease_nonce: i64, c_gate: i16,
    c_status: i16, c_supersedes: i32, c_dedup: i32, c_run: i32,
    g_commit: i32, g_kind: i16, g_number: i64, g_row: i32, g_value: Option<Vec<u8>>, g_place: Option<i64>,
    s_number: i64, s_with_run: bool, n_name: Vec<u8>,
    k_kind: i16, k_stream: Option<i64>, k_key: Vec<u8>, k_due: Option<i64>, k_mode: i16,
    o_commit: i32, o_row: i32, o_put: bool, o_value: Option<Vec<u8>>, o_place: Option<i64>, o_placing: i16,
    m_commit: i32, m_slot: i32,
    x_commit: i32, x_first: i64, x_last: i64,
    r_id: String, r_generation: i64, r_workflow: String, r_version: i64, r_status: i16,
    r_created: i64, r_updated: i64, r_tags: String,
}

columns! {
    /// Plain commits: `p_` steps, `t_` longer appends, `b_` creations. `sql/plain.sql` describes
    /// them.
    PlainColumns:
    p_number: i64, p_stream: i64, p_epoch: i64, p_nonce: i64, p_seq: i64, p_seen: i64,
    p_count: i32, p_bytes: Vec<u8>,
    t_number: i64, t_stream: i64, t_epoch: i64, t_nonce: i64, t_seq: i64, t_seen: i64, t_bytes: Vec<u8>,
    t_count: i32, t_inbox: i32, t_events: i32, t_events_min: i32, t_progress: bool,
    t_inbox_seen: i64, t_leaves: bool, t_closes: bool, t_status: i16, t_now: i64,
    b_number: i64, b_name: Vec<u8>, b_bytes: Vec<u8>, b_count: i32, b_inbox: i32, b_events: i32,
    b_ready: bool, b_node: Option<i64>, b_nonce: Option<i64>, b_id: String, b_workflow: String, b_version: i64, b_status: i16,
    b_created: i64, b_updated: i64, b_tags: String,
}

impl PlainColumns {
    /// The number of columns of steps, which come first.
    pub(crate) const OF_STEPS: usize = 8;

    pub(crate) fn are_steps(&self) -> bool {
        self.t_number.is_empty() && self.b_number.is_empty()
    }

    /// The arguments of `append_step`. `None` unless a single step is the only commit.
    pub(crate) fn only_step(&self) -> Option<[Argument<'_>; Self::OF_STEPS]> {
        let steps = (
            (&self.p_number[..], &self.p_stream[..]),
            (&self.p_epoch[..], &self.p_nonce[..]),
            (&self.p_seq[..], &self.p_seen[..]),
            (&self.p_count[..], &self.p_bytes[..]),
        );
        match steps {
            (([number], [stream]), ([epoch], [nonce]), ([seq], [seen]), ([count], [bytes]))
                if self.are_steps() =>
            {
                Some(arguments![
                    *number, *stream, *epoch, *nonce, *seq, *seen, *count, *bytes
                ])
            }
            _ => None,
        }
    }
}
