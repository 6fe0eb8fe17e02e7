//! Applies a control verb to one or many runs.

use everstep_model::{Control, Verb};
use everstep_protocol::client::{Call, segment};
use everstep_protocol::workflow::{BulkReport, BulkRequest, CancelRequest, ControlRequest};
use http::Method;

use super::report::{print_answer, print_dry_run, print_report};
use super::targets::Targets;
use crate::context::Context;
use crate::exit::Exit;
use crate::output::ProgressBar;

/// Runs per bulk request. The progress bar advances after each request.
const BULK_RUNS: usize = 50;

pub(crate) async fn apply(
    control: Control,
    targets: &Targets,
    context: &Context,
) -> anyhow::Result<Exit> {
    let verb = control.verb();
    let ids = targets.ids(verb, context).await?;
    let out = &context.out;
    if targets.dry_run {
        return print_dry_run(out, verb, &ids);
    }
    // A single named run gets a request of its own, so that a refusal determines the exit code.
    if let Some(run) = targets.single() {
        let call = single_call(control, run, targets.reason.clone())?;
        return print_answer(out, &context.server.send(call).await?.json()?);
    }
    let bar = ProgressBar::new(verb.as_str(), ids.len(), out.is_json);
    let mut report = BulkReport {
        total: ids.len(),
        changed: 0,
        refused: 0,
        runs: Vec::new(),
    };
    for ids in ids.chunks(BULK_RUNS) {
        bar.set(report.runs.len());
        let request = BulkRequest {
            verb,
            ids: Some(ids.to_vec()),
            filter: None,
            reason: targets.reason.clone(),
            rollback: !matches!(control, Control::Cancel { rollback: false }),
        };
        let part: BulkReport = context.server.post("bulk", &request).await?;
        report.changed += part.changed;
        report.refused += part.refused;
        report.runs.extend(part.runs);
    }
    drop(bar);
    print_report(out, &report)
}

fn single_call(control: Control, run: &str, reason: Option<String>) -> anyhow::Result<Call> {
    let (verb, run) = (control.verb(), segment(run));
    if verb == Verb::Delete {
        let query = reason.map(|reason| format!("?reason={}", segment(&reason)));
        let path = format!("workflows/{run}{}", query.unwrap_or_default());
        return Ok(Call::new(Method::DELETE, path));
    }
    let call = Call::post(format!("workflows/{run}/{verb}"));
    Ok(match control {
        Control::Cancel { rollback } => call.json(&CancelRequest { reason, rollback })?,
        _ => call.json(&ControlRequest { reason })?,
    })
}
