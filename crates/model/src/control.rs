//! The verbs that control a run as a whole. The engine, the HTTP API, the Rust client and the command
//! line all use this definition.

use std::fmt;

use serde::{Deserialize, Serialize};

/// Defines [`Verb`] and [`Control`] from one list. `Cancel` is the only verb with an option.
macro_rules! verbs {
    ($($(#[$doc:meta])* $verb:ident = $word:literal,)*) => {
        /// A verb without its options, as it appears in requests and on the command line.
        #[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
        #[serde(rename_all = "kebab-case")]
        pub enum Verb {
            $($(#[$doc])* $verb,)*
            /// Ends the run and, by default, undoes its completed steps.
            Cancel,
        }

        /// A verb with its options: what to do with a run.
        #[derive(Clone, Copy, Debug, PartialEq, Eq)]
        pub enum Control {
            $($(#[$doc])* $verb,)*
            /// Ends the run in an orderly way.
            Cancel {
                /// Whether to undo completed steps.
                rollback: bool,
            },
        }

        impl Verb {
            /// All verbs.
            pub const ALL: &'static [Self] = &[$(Self::$verb,)* Self::Cancel];

            /// The word for it in paths, requests and on the command line.
            #[must_use]
            pub fn as_str(self) -> &'static str {
                match self {
                    $(Self::$verb => $word,)*
                    Self::Cancel => "cancel",
                }
            }

            /// Adds the option of `Cancel`. Other verbs ignore it.
            #[must_use]
            pub fn with_rollback(self, rollback: bool) -> Control {
                match self {
                    $(Self::$verb => Control::$verb,)*
                    Self::Cancel => Control::Cancel { rollback },
                }
            }
        }

        impl Control {
            /// The verb without its options.
            #[must_use]
            pub fn verb(self) -> Verb {
                match self {
                    $(Self::$verb => Verb::$verb,)*
                    Self::Cancel { .. } => Verb::Cancel,
                }
            }
        }
    };
}

verbs! {
    /// Pauses the run after its steps in flight.
    Pause = "pause",
    /// Continues a paused run.
    Resume = "resume",
    /// Ends the run immediately, without undoing anything.
    Terminate = "terminate",
    /// Makes the run fail.
    Fail = "fail",
    /// Starts the run again from the beginning.
    Restart = "restart",
    /// Continues a failed run where it failed.
    Recover = "recover",
    /// Repeats a rollback that failed.
    RetryRollback = "retry-rollback",
    /// Deletes the run and its journal.
    Delete = "delete",
}

impl fmt::Display for Verb {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.as_str())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_word_in_json_is_the_word_in_paths() {
        for &verb in Verb::ALL {
            assert_eq!(serde_json::to_value(verb).unwrap(), verb.as_str());
            for rollback in [true, false] {
                assert_eq!(verb.with_rollback(rollback).verb(), verb);
            }
        }
    }
}
