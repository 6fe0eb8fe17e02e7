//! Prints the results of control requests.

use everstep_model::Verb;
use everstep_protocol::workflow::{BulkReport, BulkRun, ControlAnswer};

use crate::exit::Exit;
use crate::output::{Colour, Output, Table, escape_controls};

pub(super) fn print_dry_run(out: &Output, verb: Verb, ids: &[String]) -> anyhow::Result<Exit> {
    if out.is_json {
        out.json(&ids)?;
        return Ok(Exit::Success);
    }
    for id in ids {
        out.line(&escape_controls(id))?;
    }
    let text = format!("dry run: `{verb}` would apply to {}", count(ids.len()));
    out.line(&out.paint.paint(Colour::Quiet, &text))?;
    Ok(Exit::Success)
}

pub(super) fn print_answer(out: &Output, answer: &ControlAnswer) -> anyhow::Result<Exit> {
    match out.is_json {
        true => out.json(answer)?,
        false => out.line(&escape_controls(&answer.message))?,
    }
    Ok(Exit::Success)
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
    let (changed, refused) = (report.changed, report.refused);
    let text = format!(
        "{}: {changed} changed, {refused} refused",
        count(report.total)
    );
    out.line(&out.paint.paint(Colour::Strong, &text))?;
    Ok(exit)
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
