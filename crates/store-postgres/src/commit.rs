//! The one write path: a batch is one call, and what is busy moves to the next one.

use std::sync::Arc;

use everstep_model::{NodeId, StreamNumber};
use everstep_store::{Commit, CommitId, Outcome, StoreError, Target};
use tokio_postgres::Row;
use tokio_postgres::types::Type;

use crate::answer::{Answers, COLUMNS};
use crate::call;
use crate::columns::{Argument, Columns};
use crate::failure::Trouble;
use crate::io::Io;
use crate::number::{count, node};
use crate::plain::{self, PlainAppend};
use crate::session::Session;

/// How often streams that somebody else holds are tried together before each is waited for alone.
const MISSES_MAX: u32 = 3;
/// How often a call is made again that met a moment which was over when it wrote.
const CALLS_MAX: u32 = 20;
/// Arguments that are not columns.
const SCALARS: usize = 5;

/// A commit and its place in the batch.
pub(crate) type Placed<'a> = (usize, &'a Commit);

/// Commits a batch. Commits under ids of several nodes are several batches.
pub(crate) async fn commit(
    io: &Io,
    session: &Arc<Session>,
    batch: &[Commit],
) -> Result<Vec<Outcome>, StoreError> {
    let mut outcomes: Vec<Option<Outcome>> = Vec::new();
    outcomes.resize_with(batch.len(), || None);
    let placed: Vec<Placed<'_>> = batch.iter().enumerate().collect();
    for part in of_one_node(&placed) {
        let mut writer = Writer {
            io,
            session,
            sender: part.iter().find_map(|(_, commit)| commit.id),
            outcomes: &mut outcomes,
        };
        writer.write(part.to_vec()).await?;
    }
    let all: Option<Vec<Outcome>> = outcomes.into_iter().collect();
    all.ok_or_else(|| StoreError::Unavailable {
        detail: "the database did not answer about every commit".to_owned(),
    })
}

/// The longest stretches without ids of two nodes.
fn of_one_node<'a, 'b>(placed: &'a [Placed<'b>]) -> Vec<&'a [Placed<'b>]> {
    let sender = |(_, commit): &Placed<'_>| commit.id.map(|id| id.node);
    let mut parts = Vec::new();
    let mut rest = placed;
    while !rest.is_empty() {
        let first: Option<NodeId> = rest.iter().find_map(sender);
        let is_other = |commit: &Placed<'_>| sender(commit).is_some_and(|id| Some(id) != first);
        let length = rest.iter().position(is_other).unwrap_or(rest.len());
        let (part, others) = rest.split_at(length);
        parts.push(part);
        rest = others;
    }
    parts
}

/// Writes commits of one node.
struct Writer<'a> {
    io: &'a Io,
    session: &'a Arc<Session>,
    /// The first id: nothing numbered lower is sent again.
    sender: Option<CommitId>,
    outcomes: &'a mut [Option<Outcome>],
}

impl Writer<'_> {
    async fn write(&mut self, mut left: Vec<Placed<'_>>) -> Result<(), StoreError> {
        for _ in 0..MISSES_MAX {
            left = self.call(left, false).await?;
            if left.is_empty() {
                return Ok(());
            }
            tracing::debug!(commits = left.len(), "streams are busy; tried again");
        }
        // Alone, so that nobody waits for a stream while holding another.
        while !left.is_empty() {
            let alone = first_alone(&left);
            let (now, later) = left.into_iter().partition(|(at, _)| alone.contains(at));
            left = later;
            left.extend(self.call(now, true).await?);
            left.sort_by_key(|(at, _)| *at);
        }
        Ok(())
    }

    /// One call. Gives back what was busy.
    async fn call<'c>(
        &mut self,
        placed: Vec<Placed<'c>>,
        may_wait: bool,
    ) -> Result<Vec<Placed<'c>>, StoreError> {
        let (mut placed, appends) = plain::split(placed);
        let commits: Vec<&Commit> = placed.iter().map(|(_, commit)| *commit).collect();
        let plain = appends
            .iter()
            .filter_map(|(_, commit)| PlainAppend::of(commit));
        let columns = call::columns(&commits, &plain.collect::<Vec<_>>());
        let call = Call {
            node: self.sender.map(|id| node(id.node)),
            since: self.sender.map_or(0, |id| count(id.number)),
            until: columns.numbers().max().unwrap_or(0),
            columns,
            may_wait,
        };
        let lines = self.io.run(send(self.session.clone(), call)).await?;
        let answers = Answers::read(&lines, commits.len()).map_err(Trouble::told)?;
        let mut busy = Vec::new();
        placed.extend(appends);
        for (place, (at, commit)) in placed.into_iter().enumerate() {
            match (answers.outcome(place, commit), self.outcomes.get_mut(at)) {
                (Some(outcome), Some(slot)) => *slot = Some(outcome),
                _ => busy.push((at, commit)),
            }
        }
        busy.sort_by_key(|(at, _)| *at);
        let is_removal = |commit: &&Commit| matches!(commit.target, Target::Remove(_));
        if commits.iter().any(is_removal) {
            self.io.spawn(self.session.clone().clear_garbage());
        }
        Ok(busy)
    }
}

/// The first commit and all that share a stream with it: those are committed together, in order.
fn first_alone(left: &[Placed<'_>]) -> Vec<usize> {
    let mut streams: Vec<StreamNumber> = Vec::new();
    let mut alone = Vec::new();
    for (at, commit) in left {
        let named = named(commit);
        if alone.is_empty() || named.iter().any(|number| streams.contains(number)) {
            streams.extend(named);
            alone.push(*at);
        }
    }
    alone
}

/// The streams that a commit names.
pub(crate) fn named(commit: &Commit) -> Vec<StreamNumber> {
    let mut named = match &commit.target {
        Target::Create(_) => Vec::new(),
        Target::Stream(number) => vec![*number],
        Target::Remove(numbers) => numbers.clone(),
    };
    named.extend(commit.supersedes);
    named
}

/// The arguments of a call.
struct Call {
    columns: Columns,
    node: Option<i64>,
    since: i64,
    until: i64,
    may_wait: bool,
}

impl Call {
    fn arguments<'a>(&'a self, now: &'a Option<i64>) -> Vec<Argument<'a>> {
        let mut arguments: Vec<Argument<'_>> = vec![
            (now, Type::INT8),
            (&self.may_wait, Type::BOOL),
            (&self.node, Type::INT8),
            (&self.since, Type::INT8),
            (&self.until, Type::INT8),
        ];
        let mut columns = self.columns.arguments();
        if self.columns.only_append() {
            columns.truncate(Columns::OF_APPENDS);
        }
        arguments.extend(columns);
        arguments
    }

    /// The statement that takes these arguments: a smaller one for a batch that only appends, as most do.
    fn statement(&self, schema: &str, arguments: usize) -> String {
        let place = |n: usize| format!("${n}");
        let mut places: Vec<String> = (1..=arguments).map(place).collect();
        let function = if self.columns.only_append() {
            "append_batch"
        } else {
            // No append has taken effect yet.
            places.splice(SCALARS..SCALARS, ["NULL"; 2].map(str::to_owned));
            "commit_batch"
        };
        let places = places.join(", ");
        format!("SELECT {COLUMNS} FROM {schema}.{function}({places})")
    }

    /// Whether it takes effect once however often it is sent.
    fn may_be_repeated(&self) -> bool {
        self.columns.numbers().all(|number| number > 0)
    }
}

/// Sends the call until the database has judged it, or cannot be reached.
async fn send(session: Arc<Session>, call: Call) -> Result<Vec<Row>, StoreError> {
    let mut calls = 0;
    loop {
        calls += 1;
        let now = session.now();
        let arguments = call.arguments(&now);
        let statement = call.statement(&session.schema, arguments.len());
        match session.commits.write(&statement, &arguments).await {
            Ok(lines) => return Ok(lines),
            Err(Trouble::Again(_)) if calls < CALLS_MAX => {}
            Err(Trouble::Lost(_)) if calls == 1 && call.may_be_repeated() => {}
            Err(Trouble::HistoryChanged) if calls < CALLS_MAX => {
                session.adopt_history().await.map_err(Trouble::told)?;
            }
            Err(trouble) => return Err(trouble.told()),
        }
    }
}
