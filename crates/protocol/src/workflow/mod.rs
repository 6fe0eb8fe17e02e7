//! The workflow API. One file per resource.

mod bulk;
mod control;
mod event;
mod kind;
mod list;
mod run;
mod start;
mod why;

pub use bulk::{
    BULK_IDS_MAX, BULK_RUNS_SHOWN, BulkLine, BulkProgress, BulkReport, BulkRequest, BulkRun, Filter,
};
pub use control::{
    CancelRequest, ControlAnswer, ControlRequest, EditRequest, EffectWord, ForkRequest,
    RestartRequest, SkipRequest,
};
pub use event::{AnswerAccepted, EventAnswer, EventOutcome};
pub use everstep_model::Verb;
pub use kind::{TypePage, TypeView};
pub use list::{RunPage, RunSummary};
pub use run::{OriginView, RollbackView, RpcView, RunView, StepView, WaitKind, WaitView};
pub use start::{BatchStart, STARTS_MAX, StartAnswer, StartBatch, StartBatchAnswer, StartRequest};
pub use why::WhyView;

/// Deserializes a value whose `null` differs from its absence.
pub(crate) fn given<'de, D, T>(deserializer: D) -> Result<Option<T>, D::Error>
where
    D: serde::Deserializer<'de>,
    T: serde::Deserialize<'de>,
{
    T::deserialize(deserializer).map(Some)
}
