//! `everstep cancel`: ends runs and, by default, undoes their completed steps.

use clap::Args;
use everstep_model::Control;

use super::apply::apply;
use super::targets::Targets;
use crate::context::Context;
use crate::exit::Exit;

const EXAMPLES: &str = "\
Examples:
  everstep cancel order-7 --reason 'out of stock'
  everstep cancel order-7 --no-rollback
  everstep cancel --type payment --status waiting --dry-run";

#[derive(Args, Debug)]
#[command(after_help = EXAMPLES)]
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
