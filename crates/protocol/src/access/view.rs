//! The views of a journal.

use std::fmt;
use std::str::FromStr;

use serde::{Deserialize, Serialize};

/// A view of a run's journal. All views have the same offsets.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "snake_case")]
pub enum View {
    /// All records.
    #[default]
    Full,
    /// Rows: the workflow, its steps, questions and events, and the application's rows.
    State,
    /// Data for clients: the status, the application's rows and the questions.
    Client,
}

/// The text is not the name of a view.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct InvalidView(String);

impl std::error::Error for InvalidView {}

impl fmt::Display for InvalidView {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let known = View::ALL.map(View::as_str).join(", ");
        write!(f, "there is no view `{}`; there are: {known}", self.0)
    }
}

impl View {
    /// All views.
    pub const ALL: [Self; 3] = [Self::Full, Self::State, Self::Client];

    /// Its name in requests.
    #[must_use]
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Full => "full",
            Self::State => "state",
            Self::Client => "client",
        }
    }
}

impl fmt::Display for View {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}

impl FromStr for View {
    type Err = InvalidView;

    fn from_str(text: &str) -> Result<Self, InvalidView> {
        let found = Self::ALL.into_iter().find(|view| view.as_str() == text);
        found.ok_or_else(|| InvalidView(text.to_owned()))
    }
}
