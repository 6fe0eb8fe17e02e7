//! Ends what a run left open whose journal was not read when the run was terminated: its children,
//! timers and rpcs. The journal is read in pages, and only what is open is kept.

use std::ops::ControlFlow;

use everstep_model::{Entry, Generation, RunId, StreamNumber};
use everstep_store::RowsCommit;

use super::delivery::{Deliverer, Delivery};
use crate::commit::projection::{Cause, OpenChildren, OpenRows, Origin};
use crate::error::ControlError;

/// The number of rows deleted by one commit.
const ROWS_AT_ONCE: usize = 1_000;

impl Deliverer {
    pub(super) async fn end_open(
        &self,
        run: &RunId,
        generation: Generation,
        stream: StreamNumber,
    ) -> Result<Delivery, ControlError> {
        let node = &self.parts.node;
        let mut origin = None;
        let (mut children, mut rows) = (OpenChildren::default(), OpenRows::new(stream));
        let visit = |entry: Entry| {
            origin.get_or_insert_with(|| Origin::of(std::slice::from_ref(&entry)));
            children.fold(&entry.record.body);
            rows.fold(&entry.record);
            ControlFlow::Continue(())
        };
        match node.visit_journal(stream, visit).await {
            // What comes before the damage is ended.
            Err(error) if error.is_damage() => {
                tracing::error!(%run, %error, "cannot find everything that a terminated run left open");
            }
            read => read?,
        }
        let cause = Cause {
            stream,
            run,
            generation,
            origin: &origin.unwrap_or_default(),
        };
        for child in children.into_left() {
            let parent = cause.link(&child.location);
            match self.end_child(&child, &parent).await? {
                Delivery::Done => {}
                not_done => return Ok(not_done),
            }
        }
        for keys in rows.into_keys().chunks(ROWS_AT_ONCE) {
            let mut commit = RowsCommit::new(stream, node.now());
            commit.rows.delete = keys.to_vec();
            // If the run was deleted meanwhile, its timers are still there.
            self.parts.committer.commit(commit).await?;
        }
        Ok(Delivery::Done)
    }
}
