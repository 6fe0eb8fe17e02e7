//! The verbs that control a run as a whole. The engine, the HTTP API, the Rust client and the
//! command line all use this definition.

use serde::{Deserialize, Serialize};

/// Declares [`Verb`] and [`Control`] from one list. `Cancel` is the only verb with an option.
macro_rules! verbs {
    ($($(#[$doc:meta])* $verb:ident = $word:literal,)*) => {
        crate::words! {
            /// A verb without its options, as it appears in requests and on the command line.
            #[derive(Serialize, Deserialize)]
            #[serde(rename_all = "kebab-case")]
            pub enum Verb {
                $($(#[$doc])* $verb = $word,)*
                /// Ends the run and, by default, undoes its completed steps.
                Cancel = "cancel",
            }
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
            /// Returns the verb without its options.
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
