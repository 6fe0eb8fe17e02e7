//! One call of the functions that commit: selects the function, passes the arguments, and repeats
//! the call if it read state that had changed when it wrote.

use std::sync::Arc;

use everstep_store::{CommitId, StoreError};
use tokio_postgres::Row as Line;

use crate::connection::argument::{Argument, argument, arguments};
use crate::connection::pace::WORKED;
use crate::failure::CallError;
use crate::number::{count, node};
use crate::session::Session;
use crate::write::answer::{Answers, COLUMNS};
use crate::write::columns::{Columns, PlainColumns};
use crate::write::plain_answer::PlainAnswer;

/// The number of attempts of a call whose state had changed when it wrote.
const CALLS_MAX: u32 = 20;
/// The arguments that every call begins with: the time, the sender, its first and its last number.
const SCALARS: usize = 4;

pub(crate) struct Call {
    sender: Option<i64>,
    /// Lower numbers are not sent again.
    since: i64,
    until: i64,
    /// Whether all commits have ids, so that a repeated call has no further effect.
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

    /// Sends the call until the database has judged it or cannot be reached.
    pub(crate) async fn send(self, session: Arc<Session>) -> Result<Answered, StoreError> {
        match self.try_to_send(&session).await {
            Ok(answered) => Ok(answered),
            Err(call_error) => Err(session.store_error(call_error).await),
        }
    }

    async fn try_to_send(&self, session: &Session) -> Result<Answered, CallError> {
        let mut calls = 0;
        loop {
            calls += 1;
            let now = session.now();
            let arguments = self.arguments(&now);
            let statement = self.statement(session);
            let answer = match self.may_wait {
                true => session.patient_commits.write(&statement, &arguments).await,
                false => session.commits.write(&statement, &arguments).await,
            };
            match answer {
                Ok(lines) => return Ok(self.read(&lines)?),
                Err(CallError::Again(_)) if calls < CALLS_MAX => {}
                Err(CallError::Lost(_)) if calls == 1 && self.may_be_repeated => {}
                Err(CallError::HistoryChanged) if calls < CALLS_MAX => {
                    session.adopt_history().await?;
                }
                // Nothing was applied. The next call judges all commits, which does not wait for
                // heads.
                Err(CallError::Busy(_)) if self.plain.is_some() => return Ok(Answered::nothing()),
                Err(call_error) => return Err(call_error),
            }
        }
    }

    fn arguments<'a>(&'a self, now: &'a Option<i64>) -> Vec<Argument<'a>> {
        if let Some(step) = self.only_step() {
            return [&arguments![*now, self.sender][..], &step].concat();
        }
        let mut arguments = arguments![*now, self.sender, self.since, self.until].to_vec();
        if let Some(plain) = &self.plain {
            arguments.extend(plain.arguments().into_iter().take(self.plain_columns()));
        }
        if let Some(judged) = &self.judged {
            arguments.push(argument(&self.may_wait));
            arguments.extend(judged.arguments());
        }
        arguments
    }

    /// Returns the statement for these arguments. Batches that contain only steps, which are
    /// frequent, have a smaller one, and a single step has the smallest. If commits must be judged,
    /// plain commits are applied first in the same transaction.
    fn statement(&self, session: &Session) -> String {
        if self.only_step().is_some() {
            let append_step = session.function("append_step");
            let all = placeholders(1, 2 + PlainColumns::OF_STEPS);
            return format!("SELECT {append_step}({all}) AS done, {WORKED}");
        }
        let first = placeholders(1, SCALARS);
        let plain = placeholders(SCALARS + 1, self.plain_columns());
        let judged = SCALARS + self.plain_columns() + 1;
        let may_wait = format!("${judged}");
        let judged = placeholders(judged + 1, Columns::COUNT);
        let plain_batch = session.function("plain_batch");
        let commit_batch = session.function("commit_batch");
        match (&self.plain, &self.judged) {
            (Some(_), None) if self.is_steps() => {
                let append_batch = session.function("append_batch");
                format!("SELECT {append_batch}({first}, {plain}) AS done, {WORKED}")
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

    fn is_steps(&self) -> bool {
        let plain = self.plain.as_ref();
        self.judged.is_none() && plain.is_some_and(PlainColumns::are_steps)
    }

    /// The arguments of the only commit of this call, if it is a step.
    fn only_step(&self) -> Option<[Argument<'_>; PlainColumns::OF_STEPS]> {
        let plain = self.plain.as_ref().filter(|_| self.judged.is_none())?;
        plain.only_step()
    }

    fn read(&self, lines: &[Line]) -> Result<Answered, tokio_postgres::Error> {
        let mut answered = Answered::nothing();
        if self.judged.is_some() {
            answered.judged = Answers::read(lines)?;
        }
        if let (Some(_), Some(line)) = (&self.plain, lines.first()) {
            answered.plain = PlainAnswer::read(line, self.is_steps())?;
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

/// The placeholders of `count` arguments from number `first` on.
fn placeholders(first: usize, count: usize) -> String {
    let placeholders = (first..first + count).map(|number| format!("${number}"));
    placeholders.collect::<Vec<_>>().join(", ")
}
