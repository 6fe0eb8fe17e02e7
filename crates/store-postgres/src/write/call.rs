//! One call of the functions that commit: selects the function, passes the arguments, and repeats
//! the call if it read state that had changed when it wrote.

use std::sync::Arc;

use everstep_store::{CommitId, StoreError};
use tokio_postgres::Row as Line;
use tokio_postgres::types::Type;

use crate::connection::argument::Argument;
use crate::connection::pace::WORKED;
use crate::failure::CallError;
use crate::number::{count, node};
use crate::session::Session;
use crate::write::answer::{Answers, COLUMNS, COLUMNS_COUNT};
use crate::write::columns::{Columns, PlainColumns};
use crate::write::plain_answer::PlainAnswer;

/// How often a call is sent whose state had changed when it wrote.
const CALLS_MAX: u32 = 20;
/// The arguments that every call begins with: the time, the sender, its first number and its last.
const SCALARS: usize = 4;

pub(crate) struct Call {
    sender: Option<i64>,
    /// Nothing numbered lower is sent again.
    since: i64,
    until: i64,
    /// Whether all commits have ids, so that the call has one effect however often it is sent.
    may_be_repeated: bool,
    plain: Option<PlainColumns>,
    judged: Option<Columns>,
    may_wait: bool,
}

/// The answers of the database to a call.
pub(crate) struct Answered {
    pub(crate) plain: PlainAnswer,
    pub(crate) judged: Answers,
}

impl Call {
    pub(crate) fn new(
        sender: Option<CommitId>,
        ids: impl Iterator<Item = Option<CommitId>>,
        plain: Option<PlainColumns>,
        judged: Option<Columns>,
        may_wait: bool,
    ) -> Self {
        let (mut until, mut may_be_repeated) = (0, true);
        for id in ids {
            until = until.max(id.map_or(0, |id| count(id.number)));
            may_be_repeated &= id.is_some();
        }
        Self {
            sender: sender.map(|id| node(id.node)),
            since: sender.map_or(0, |id| count(id.number)),
            until,
            may_be_repeated,
            plain,
            judged,
            may_wait,
        }
    }

    /// Sends the call until the database has judged it, or cannot be reached.
    pub(crate) async fn send(self, session: Arc<Session>) -> Result<Answered, StoreError> {
        let mut calls = 0;
        loop {
            calls += 1;
            let now = session.now();
            let arguments = self.arguments(&now);
            let statement = self.statement(&session);
            let answer = match self.may_wait {
                true => session.patient_commits.write(&statement, &arguments).await,
                false => session.commits.write(&statement, &arguments).await,
            };
            match answer {
                Ok(lines) => {
                    return self
                        .read(&lines)
                        .map_err(|e| CallError::of(&e).into_error());
                }
                Err(CallError::Again(_)) if calls < CALLS_MAX => {}
                Err(CallError::Lost(_)) if calls == 1 && self.may_be_repeated => {}
                Err(CallError::HistoryChanged) if calls < CALLS_MAX => {
                    session
                        .adopt_history()
                        .await
                        .map_err(CallError::into_error)?;
                }
                // Nothing was applied. The next call judges all commits, which does not wait for heads.
                Err(CallError::Busy(_)) if self.plain.is_some() => return Ok(Answered::nothing()),
                Err(call_error) => return Err(call_error.into_error()),
            }
        }
    }

    fn arguments<'a>(&'a self, now: &'a Option<i64>) -> Vec<Argument<'a>> {
        let mut arguments: Vec<Argument<'_>> = vec![
            (now, Type::INT8),
            (&self.sender, Type::INT8),
            (&self.since, Type::INT8),
            (&self.until, Type::INT8),
        ];
        if let Some(plain) = &self.plain {
            let mut columns = plain.arguments();
            columns.truncate(self.plain_columns());
            arguments.extend(columns);
        }
        if let Some(judged) = &self.judged {
            arguments.push((&self.may_wait, Type::BOOL));
            arguments.extend(judged.arguments());
        }
        arguments
    }

    /// The statement for these arguments. Batches of steps only, which are frequent, have a smaller
    /// one. If commits must be judged, plain commits are applied first in the same transaction.
    fn statement(&self, session: &Session) -> String {
        let first = places(1, SCALARS);
        let plain = places(SCALARS + 1, self.plain_columns());
        let judged = SCALARS + self.plain_columns() + 1;
        let may_wait = format!("${judged}");
        let judged = places(judged + 1, Columns::COUNT);
        let plain_batch = session.function("plain_batch");
        let commit_batch = session.function("commit_batch");
        match (&self.plain, &self.judged) {
            (Some(_), None) if self.is_steps() => {
                let append_batch = session.function("append_batch");
                format!("SELECT {append_batch}({first}, {plain}), {WORKED}")
            }
            (Some(_), None) => {
                format!("SELECT done, created, {WORKED} FROM {plain_batch}({first}, {plain})")
            }
            (None, _) => format!(
                "SELECT {COLUMNS}, {WORKED} FROM {commit_batch}({first}, false, {may_wait}, {judged})"
            ),
            (Some(_), Some(_)) => format!(
                "SELECT {COLUMNS}, done, created, {WORKED} FROM {plain_batch}({first}, {plain}), \
                    {commit_batch}({first}, fresh, {may_wait}, {judged})"
            ),
        }
    }

    fn plain_columns(&self) -> usize {
        match &self.plain {
            None => 0,
            Some(_) if self.is_steps() => PlainColumns::OF_STEPS,
            Some(_) => PlainColumns::COUNT,
        }
    }

    /// Whether all commits are steps.
    fn is_steps(&self) -> bool {
        let plain = self.plain.as_ref();
        self.judged.is_none() && plain.is_some_and(PlainColumns::are_steps)
    }

    fn read(&self, lines: &[Line]) -> Result<Answered, tokio_postgres::Error> {
        let mut answered = Answered::nothing();
        let mut plain_at = 0;
        if self.judged.is_some() {
            answered.judged = Answers::read(lines)?;
            plain_at = COLUMNS_COUNT;
        }
        if let (Some(_), Some(line)) = (&self.plain, lines.first()) {
            answered.plain = match self.is_steps() {
                true => PlainAnswer::of_steps(line)?,
                false => PlainAnswer::read(line, plain_at)?,
            };
        }
        Ok(answered)
    }
}

impl Answered {
    fn nothing() -> Self {
        Self {
            plain: PlainAnswer::nothing(),
            judged: Answers::default(),
        }
    }
}

/// The placeholders of `count` arguments from this one on.
fn places(first: usize, count: usize) -> String {
    let places = (first..first + count).map(|place| format!("${place}"));
    places.collect::<Vec<_>>().join(", ")
}
