//! The verbs that steer runs: one run, several, or all that pass a filter, each reported on.

use clap::Args;
use everstep_model::Payload;
use everstep_protocol::client::{Call, segment};
use everstep_protocol::workflow::{
    BulkReport, BulkRequest, BulkRun, CancelRequest, ControlAnswer, ControlRequest, ForkRequest,
    RestartRequest, Verb,
};
use http::Method;

use super::list;
use super::payload::parse;
use super::selection::Selection;
use crate::ending::{Ending, UsageError};
use crate::output::{Bar, Colour, Output, Table, clean};
use crate::session::Session;

/// Runs that one request is about; the bar moves on after each.
const AT_ONCE: usize = 50;

/// Which runs, and why.
#[derive(Args, Debug)]
pub(crate) struct Many {
    /// The runs.
    #[arg(value_name = "RUN")]
    runs: Vec<String>,
    #[command(flatten)]
    selection: Selection,
    /// All runs there are, or that pass the filter.
    #[arg(long, conflicts_with = "runs")]
    all: bool,
    /// Why; it is written down.
    #[arg(long)]
    reason: Option<String>,
    /// Only say which runs it would be.
    #[arg(long)]
    dry_run: bool,
}

#[derive(Args, Debug)]
#[command(
    after_help = "Examples:\n  everstep cancel order-7 --reason 'out of stock'\n  everstep cancel --type payment --status waiting --dry-run"
)]
pub(crate) struct Cancel {
    #[command(flatten)]
    many: Many,
    /// Leave what was done as it is, instead of undoing it.
    #[arg(long)]
    no_rollback: bool,
}

#[derive(Args, Debug)]
#[command(
    after_help = "Examples:\n  everstep restart order-7\n  everstep restart order-7 --from charge:0"
)]
pub(crate) struct Restart {
    #[command(flatten)]
    many: Many,
    /// The operation to begin again at; what was done before it stays done. For one run.
    #[arg(long, value_name = "OPERATION")]
    from: Option<String>,
    /// The result that step is taken to have had, in JSON.
    #[arg(long, value_name = "JSON", requires = "from")]
    result: Option<String>,
}

#[derive(Args, Debug)]
#[command(
    after_help = "Examples:\n  everstep fork order-7 --id order-7-try\n  everstep fork order-7 --from charge:0 --result '\"charge-1\"'"
)]
pub(crate) struct Fork {
    /// The run.
    run: String,
    /// The id of the new run; a random one by default.
    #[arg(long)]
    id: Option<String>,
    /// The operation before which the new run begins; where the run is now by default.
    #[arg(long, value_name = "OPERATION")]
    from: Option<String>,
    /// The result that step is taken to have had, in JSON.
    #[arg(long, value_name = "JSON", requires = "from")]
    result: Option<String>,
    /// Why; it is written down.
    #[arg(long)]
    reason: Option<String>,
}

/// Does one thing to many runs.
pub(crate) async fn plain(verb: Verb, many: &Many, session: &Session) -> anyhow::Result<Ending> {
    steer(verb, many, true, session).await
}

pub(crate) async fn cancel(arguments: &Cancel, session: &Session) -> anyhow::Result<Ending> {
    steer(
        Verb::Cancel,
        &arguments.many,
        !arguments.no_rollback,
        session,
    )
    .await
}

pub(crate) async fn restart(arguments: &Restart, session: &Session) -> anyhow::Result<Ending> {
    let Some(from) = &arguments.from else {
        return steer(Verb::Restart, &arguments.many, true, session).await;
    };
    let run = arguments.many.only().ok_or_else(|| UsageError {
        what: "`--from` is an operation of one run".to_owned(),
        remedy: "everstep restart RUN --from OPERATION".to_owned(),
    })?;
    let request = RestartRequest {
        reason: arguments.many.reason.clone(),
        from: Some(from.clone()),
        result: given(arguments.result.as_deref())?,
    };
    let path = format!("workflows/{}/restart", segment(run));
    tell_one(&session.out, &session.server.post(&path, &request).await?)
}

pub(crate) async fn fork(arguments: &Fork, session: &Session) -> anyhow::Result<Ending> {
    let request = ForkRequest {
        id: arguments.id.clone(),
        from: arguments.from.clone(),
        result: given(arguments.result.as_deref())?,
        reason: arguments.reason.clone(),
    };
    let path = format!("workflows/{}/fork", segment(&arguments.run));
    tell_one(&session.out, &session.server.post(&path, &request).await?)
}

fn given(json: Option<&str>) -> Result<Option<Payload>, UsageError> {
    json.map(parse).transpose()
}

async fn steer(
    verb: Verb,
    many: &Many,
    rollback: bool,
    session: &Session,
) -> anyhow::Result<Ending> {
    let ids = many.ids(verb, session).await?;
    let out = &session.out;
    if many.dry_run {
        return would(out, verb, &ids);
    }
    // One run that is named gets its own answer, with the exit code that its refusal has.
    if let Some(run) = many.only() {
        let call = single(verb, run, many.reason.as_deref(), rollback)?;
        return tell_one(out, &session.server.send(call).await?.json()?);
    }
    let bar = Bar::new(word(verb), ids.len(), out.is_json);
    let mut report = BulkReport {
        total: ids.len(),
        changed: 0,
        refused: 0,
        runs: Vec::new(),
    };
    for ids in ids.chunks(AT_ONCE) {
        bar.at(report.runs.len());
        let request = BulkRequest {
            verb,
            ids: Some(ids.to_vec()),
            filter: None,
            reason: many.reason.clone(),
            rollback,
        };
        let part: BulkReport = session.server.post("bulk", &request).await?;
        report.changed += part.changed;
        report.refused += part.refused;
        report.runs.extend(part.runs);
    }
    drop(bar);
    tell_many(out, &report)
}

impl Many {
    /// The one run that is named.
    pub(super) fn only(&self) -> Option<&str> {
        match self.runs.as_slice() {
            [run] => Some(run),
            _ => None,
        }
    }

    pub(super) fn reason(&self) -> Option<&str> {
        self.reason.as_deref()
    }

    async fn ids(&self, verb: Verb, session: &Session) -> anyhow::Result<Vec<String>> {
        let word = word(verb);
        match (self.runs.is_empty(), self.selection.is_empty(), self.all) {
            (false, true, _) => Ok(self.runs.clone()),
            (true, false, _) | (true, true, true) => {
                let (runs, _) = list::runs(session, &self.selection, usize::MAX).await?;
                Ok(runs.into_iter().map(|run| run.id.to_string()).collect())
            }
            (true, true, false) => Err(UsageError {
                what: format!("which runs to {word}?"),
                remedy: format!(
                    "Name them (everstep {word} RUN…), or say which with --type, --status or --tag, or --all. --dry-run shows \
                     which they are."
                ),
            }
            .into()),
            (false, false, _) => Err(UsageError {
                what: "name runs, or give a filter, not both".to_owned(),
                remedy: format!("See `everstep {word} --help`."),
            }
            .into()),
        }
    }
}

fn single(verb: Verb, run: &str, reason: Option<&str>, rollback: bool) -> anyhow::Result<Call> {
    let run = segment(run);
    let reason = reason.map(str::to_owned);
    if verb == Verb::Delete {
        let query = reason.map(|reason| format!("?reason={}", segment(&reason)));
        let path = format!("workflows/{run}{}", query.unwrap_or_default());
        return Ok(Call::new(Method::DELETE, path));
    }
    let call = Call::post(format!("workflows/{run}/{}", word(verb)));
    Ok(match verb {
        Verb::Cancel => call.json(&CancelRequest { reason, rollback })?,
        _ => call.json(&ControlRequest { reason })?,
    })
}

/// A verb as it is typed, and as it stands in addresses.
fn word(verb: Verb) -> &'static str {
    match verb {
        Verb::Pause => "pause",
        Verb::Resume => "resume",
        Verb::Cancel => "cancel",
        Verb::Terminate => "terminate",
        Verb::Fail => "fail",
        Verb::Restart => "restart",
        Verb::Recover => "recover",
        Verb::RetryRollback => "retry-rollback",
        Verb::Delete => "delete",
    }
}

fn would(out: &Output, verb: Verb, ids: &[String]) -> anyhow::Result<Ending> {
    if out.is_json {
        out.json(&ids)?;
        return Ok(Ending::Well);
    }
    for id in ids {
        out.line(&clean(id))?;
    }
    let text = format!(
        "{} would get `{}`; nothing was done",
        count(ids.len()),
        word(verb)
    );
    out.line(&out.paint.paint(Colour::Quiet, &text))?;
    Ok(Ending::Well)
}

pub(crate) fn tell_one(out: &Output, done: &ControlAnswer) -> anyhow::Result<Ending> {
    match out.is_json {
        true => out.json(done)?,
        false => out.line(&clean(&done.message))?,
    }
    Ok(Ending::Well)
}

fn tell_many(out: &Output, report: &BulkReport) -> anyhow::Result<Ending> {
    let ending = match report.refused {
        0 => Ending::Well,
        _ => Ending::Refused,
    };
    if out.is_json {
        out.json(report)?;
        return Ok(ending);
    }
    let mut table = Table::new(&["RUN", "STATUS", "WHAT HAPPENED"]);
    for run in &report.runs {
        table.row(cells(run));
    }
    out.table(&table)?;
    let (changed, refused) = (report.changed, report.refused);
    let text = format!(
        "{}: {changed} changed, {refused} refused",
        count(report.total)
    );
    out.line(&out.paint.paint(Colour::Strong, &text))?;
    Ok(ending)
}

fn cells(run: &BulkRun) -> [(String, Colour); 3] {
    let id = (run.id.to_string(), Colour::Plain);
    match (&run.done, &run.problem) {
        (_, Some(problem)) => {
            let code = problem.code.as_deref().unwrap_or("refused");
            let why = format!("{} [{code}]", problem.detail);
            [id, (String::new(), Colour::Plain), (why, Colour::Bad)]
        }
        (Some(done), None) => {
            let colour = if done.changed {
                Colour::Plain
            } else {
                Colour::Quiet
            };
            let status = (done.status.to_string(), Colour::of_run(done.status));
            [id, status, (done.message.clone(), colour)]
        }
        (None, None) => [
            id,
            (String::new(), Colour::Plain),
            (String::new(), Colour::Plain),
        ],
    }
}

fn count(runs: usize) -> String {
    match runs {
        1 => "1 run".to_owned(),
        runs => format!("{runs} runs"),
    }
}
