//! Applies a control verb to one or many runs. Most verbs only need [`Targets`]; the commands here
//! have options of their own.

use clap::Args;
use everstep_model::{Control, Verb};
use everstep_protocol::client::segment;
use everstep_protocol::workflow::{
    BulkReport, BulkRequest, CancelRequest, ControlRequest, RestartRequest,
};

use super::confirmation::{confirm, is_irreversible};
use super::report::{print_answer, print_dry_run, print_report};
use super::single_run::post;
use super::targets::Targets;
use crate::arguments::parse_json;
use crate::context::Context;
use crate::exit::Exit;
use crate::output::ProgressBar;

const CANCEL_EXAMPLES: &str = "\
Examples:
  everstep cancel order-7 --reason 'out of stock'
  everstep cancel order-7 --no-rollback
  everstep cancel --type payment --status waiting --dry-run";

const RESTART_EXAMPLES: &str = "\
Examples:
  everstep restart order-7
  everstep restart order-7 --from charge:0";

const FAIL_EXAMPLES: &str = "\
Examples:
  everstep fail order-7 --reason 'the customer is gone'
  everstep fail order-7 --step charge:0";

/// Runs per bulk request. The progress bar advances after each request.
const BULK_RUNS: usize = 50;

#[derive(Args, Debug)]
#[command(after_help = CANCEL_EXAMPLES)]
pub(crate) struct Cancel {
    #[command(flatten)]
    targets: Targets,
    /// Keep the effects of completed steps instead of undoing them
    #[arg(long)]
    no_rollback: bool,
}

impl Cancel {
    pub(crate) async fn run(&self, context: &Context) -> anyhow::Result<Exit> {
        let rollback = !self.no_rollback;
        apply(Control::Cancel { rollback }, &self.targets, context).await
    }
}

#[derive(Args, Debug)]
#[command(after_help = RESTART_EXAMPLES)]
pub(crate) struct Restart {
    #[command(flatten)]
    targets: Targets,
    /// Restart a single run from this operation and keep the operations before it
    #[arg(long, value_name = "OPERATION")]
    from: Option<String>,
    /// Result of that step in the restarted run, in JSON
    #[arg(long, value_name = "JSON", requires = "from")]
    result: Option<String>,
}

impl Restart {
    pub(crate) async fn run(&self, context: &Context) -> anyhow::Result<Exit> {
        if self.from.is_none() {
            return apply(Control::Restart, &self.targets, context).await;
        }
        let run = self.targets.exactly_one(Verb::Restart, "--from")?;
        let request = RestartRequest {
            reason: self.targets.reason.clone(),
            from: self.from.clone(),
            result: self.result.as_deref().map(parse_json).transpose()?,
        };
        post(context, &format!("{}/restart", segment(run)), &request).await
    }
}

#[derive(Args, Debug)]
#[command(after_help = FAIL_EXAMPLES)]
pub(crate) struct Fail {
    #[command(flatten)]
    targets: Targets,
    /// Fail only this operation of a single run, named as in `everstep show`; the run continues
    #[arg(long)]
    step: Option<String>,
}

impl Fail {
    pub(crate) async fn run(&self, context: &Context) -> anyhow::Result<Exit> {
        let Some(step) = &self.step else {
            return apply(Control::Fail, &self.targets, context).await;
        };
        let run = self.targets.exactly_one(Verb::Fail, "--step")?;
        let reason = self.targets.reason.clone();
        let path = format!("{}/steps/{}/fail", segment(run), segment(step));
        post(context, &path, &ControlRequest { reason }).await
    }
}

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
    if is_irreversible(verb) && !targets.is_named() && !targets.yes {
        confirm(verb, ids.len())?;
    }
    let reason = targets.reason.clone();
    // A single named run gets a request of its own, so that a refusal determines the exit code.
    if let Some(run) = targets.single() {
        let run = segment(run);
        return match control {
            Control::Cancel { rollback } => {
                let request = CancelRequest { reason, rollback };
                post(context, &format!("{run}/cancel"), &request).await
            }
            Control::Delete => {
                let query = reason.map(|reason| format!("?reason={}", segment(&reason)));
                let path = format!("workflows/{run}{}", query.unwrap_or_default());
                print_answer(out, &context.server.delete(&path).await?)
            }
            _ => {
                post(
                    context,
                    &format!("{run}/{verb}"),
                    &ControlRequest { reason },
                )
                .await
            }
        };
    }
    let bar = ProgressBar::new(verb.as_str(), ids.len(), out.is_json);
    let mut report = BulkReport {
        total: ids.len(),
        changed: 0,
        refused: 0,
        runs: Vec::new(),
        omitted: 0,
    };
    for ids in ids.chunks(BULK_RUNS) {
        bar.set(report.runs.len());
        let request = BulkRequest {
            verb,
            ids: Some(ids.to_vec()),
            filter: None,
            reason: reason.clone(),
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
