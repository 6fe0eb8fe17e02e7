//! Converts messages of the wire to types of the engine.

use everstep_engine::{Append, Then};
use everstep_machine::{LeftChild, Obsolete};
use everstep_protocol::worker::{AbandonedChild, ObsoleteRow, OneAppend, ThenWord};

use super::permitted;
use crate::failure::Failure;

/// Converts an append and checks that a worker may make it.
pub(super) fn append(append: OneAppend) -> Result<Append, Failure> {
    let then = match (append.then, append.status) {
        (ThenWord::Continue, None) => Then::Continue,
        (ThenWord::Release, None) => Then::Release,
        (ThenWord::GoOnAs, Some(status)) => Then::GoOnAs(status),
        (ThenWord::Suspend, Some(status)) => Then::Suspend(status),
        (ThenWord::Park, Some(status)) => Then::Park(status),
        (ThenWord::End, Some(status)) => Then::End(status),
        (ThenWord::EndAnyway, Some(status)) => Then::EndAnyway(status),
        _ => {
            let detail = "`then` and `status` do not go together";
            return Err(permitted::rejected(detail));
        }
    };
    let append = Append {
        records: append.records.into_iter().map(|record| record.0).collect(),
        then,
        seen: append.seen,
        inbox_seen: append.inbox_seen,
        progress: append.progress,
        obsolete: append.obsolete.into_iter().map(obsolete).collect(),
        left: append.left.into_iter().map(left).collect(),
    };
    permitted::check(&append)?;
    Ok(append)
}

fn obsolete(row: ObsoleteRow) -> Obsolete {
    match row {
        ObsoleteRow::Timer {
            due,
            purpose,
            location,
        } => Obsolete::Timer(due, purpose, location),
        ObsoleteRow::Rpc { id } => Obsolete::Rpc(id),
    }
}

fn left(left: AbandonedChild) -> LeftChild {
    LeftChild {
        location: left.location,
        run: left.run,
        on_close: left.on_close,
    }
}
