//! Prints the results of control requests.

use everstep_model::Verb;
use everstep_protocol::workflow::{BulkReport, BulkRun, ControlAnswer};

use crate::exit::Exit;
use crate::output::{Cell, Colour, Output, Table, escape_controls, plain};

pub(super) fn print_dry_run(out: &Output, verb: Verb, ids: &[String]) -> anyhow::Result<Exit> {
    let summary = format!("dry run: `{verb}` would apply to {}", count(ids.len()));
    let lines = ids.iter().map(|id| escape_controls(id));
    let lines = lines.chain([out.paint.paint(Colour::Quiet, &summary)]);
    out.result(&ids, &lines.collect::<Vec<_>>().join("\n"))
}

pub(super) fn print_answer(out: &Output, answer: &ControlAnswer) -> anyhow::Result<Exit> {
    out.result(answer, &escape_controls(&answer.message))
}

pub(super) fn print_report(out: &Output, report: &BulkReport) -> anyhow::Result<Exit> {
    let exit = match report.refused {
        0 => Exit::Success,
        _ => Exit::Refused,
    };
    if out.is_json {
        out.json(report)?;
        return Ok(exit);
    }
    let mut table = Table::new(&["RUN", "STATUS", "RESULT"]);
    for run in &report.runs {
        table.row(cells(run));
    }
    out.table(&table)?;
    let (total, changed, refused) = (count(report.total), report.changed, report.refused);
    let text = format!("{total}: {changed} changed, {refused} refused");
    out.coloured_line(Colour::Strong, &text)?;
    Ok(exit)
}

fn cells(run: &BulkRun) -> [Cell; 3] {
    let (status, result) = match (&run.done, &run.problem) {
        (_, Some(problem)) => {
            let code = problem.code.as_deref().unwrap_or("refused");
            let text = format!("{} [{code}]", problem.detail);
            (plain(""), (text, Colour::Bad))
        }
        (Some(done), None) => {
            let colour = if done.changed {
                Colour::Plain
            } else {
                Colour::Quiet
            };
            let status = (done.status.to_string(), Colour::of_run(done.status));
            (status, (done.message.clone(), colour))
        }
        (None, None) => (plain(""), plain("")),
    };
    [plain(&run.id), status, result]
}

pub(super) fn count(runs: usize) -> String {
    match runs {
        1 => "1 run".to_owned(),
        runs => format!("{runs} runs"),
    }
}
