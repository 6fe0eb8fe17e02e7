//! Suggests a workflow if the one that the user named does not exist.

use anyhow::Error;
use everstep_model::ErrorCode;
use everstep_protocol::client::CallError;
use everstep_protocol::workflow::TypePage;

use crate::context::Context;
use crate::suggestion::similar;

/// The remedy for an unknown workflow whose name is similar to that of another one.
#[derive(Debug, thiserror::Error)]
#[error("cannot start `{typed}`")]
pub(crate) struct UnknownWorkflow {
    typed: String,
    pub(crate) remedy: String,
}

/// Adds a suggestion to the error of a start, if the workflow is unknown and another one is
/// similar.
pub(super) async fn explain(error: CallError, typed: &str, context: &Context) -> Error {
    let is_unknown = error.code() == Some(ErrorCode::UnknownWorkflow);
    let error = Error::from(error);
    if !is_unknown {
        return error;
    }
    match suggestion(typed, context).await {
        Some(remedy) => error.context(UnknownWorkflow {
            typed: typed.to_owned(),
            remedy,
        }),
        None => error,
    }
}

/// Returns a sentence with the workflow that the user may have meant. `None` also if the key may
/// not list workflows.
pub(super) async fn suggestion(typed: &str, context: &Context) -> Option<String> {
    let page: TypePage = context.server.get("types").await.ok()?;
    let names = page.types.iter().map(|it| it.workflow.as_str());
    let meant = similar(typed, names)?;
    Some(format!(
        "Did you mean `{meant}`? `everstep workflows` lists all workflows."
    ))
}
