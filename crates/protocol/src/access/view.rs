//! The views of a journal.

use std::str::FromStr;

use serde::{Deserialize, Serialize};

everstep_model::words! {
    /// A view of a run's journal. All views have the same offsets.
    #[derive(Default, Serialize, Deserialize)]
    #[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
    #[serde(rename_all = "snake_case")]
    pub enum View {
        /// All records.
        #[default]
        Full = "full",
        /// Rows: the workflow, its steps, rpcs and events, and the application's rows.
        State = "state",
        /// Data for clients: the status, the application's rows and the rpcs.
        Client = "client",
    }
}

/// The text is not the name of a view.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("unknown view `{0}`; the views are: {known}", known = super::list(View::ALL))]
pub struct InvalidView(String);

impl FromStr for View {
    type Err = InvalidView;

    fn from_str(text: &str) -> Result<Self, InvalidView> {
        Self::parse(text).ok_or_else(|| InvalidView(text.to_owned()))
    }
}
