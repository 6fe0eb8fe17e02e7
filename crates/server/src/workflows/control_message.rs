//! The effect of a control request as a sentence: what was done, and the status that follows.

use everstep_engine::{Control, Done, Effect, Settlement};
use everstep_model::{Location, RunId};

/// The sentence about a verb without arguments.
pub(super) fn of_control(done: &Done, control: Control) -> String {
    let generation = done.generation;
    let what = match control {
        // The status says it: "run `a` is paused".
        Control::Pause | Control::Cancel { .. } | Control::Terminate | Control::Delete => {
            return done.to_string();
        }
        Control::Resume => "resumed".to_owned(),
        Control::Fail => "made to fail".to_owned(),
        Control::Restart => format!("restarted as generation {generation}"),
        Control::Recover => format!("recovered as generation {generation}"),
        Control::RetryRollback => {
            format!("continued as generation {generation}, which repeats the rollback")
        }
    };
    of_run(done, &what)
}

pub(super) fn of_restart(done: &Done, from: &Location) -> String {
    let generation = done.generation;
    of_run(
        done,
        &format!("restarted at `{from}` as generation {generation}"),
    )
}

pub(super) fn of_fork(done: &Done, from: &RunId, at: Option<&Location>) -> String {
    let at = at.map(|at| format!(" at `{at}`")).unwrap_or_default();
    of_run(done, &format!("forked from `{from}`{at}"))
}

pub(super) fn of_import(done: &Done) -> String {
    of_run(done, "imported")
}

pub(super) fn of_settlement(done: &Done, at: &Location, settlement: &Settlement) -> String {
    let what = match settlement {
        Settlement::Skip(_) => "was skipped",
        Settlement::Edit(_) => "got a result",
        Settlement::Fail(_) => "was made to fail",
    };
    match done.effect {
        Effect::Done | Effect::NeedsWorker => format!("`{at}` {what}; {done}"),
        Effect::Deleted | Effect::Nothing(_) => done.to_string(),
    }
}

/// `run `a` was <what> and is running`
fn of_run(done: &Done, what: &str) -> String {
    let sentence = done.to_string();
    let subject = format!("run `{}` ", done.run);
    match (done.effect, sentence.strip_prefix(&subject)) {
        (Effect::Done | Effect::NeedsWorker, Some(rest)) => {
            format!("{subject}was {what} and {rest}")
        }
        _ => sentence,
    }
}

#[cfg(test)]
mod tests {
    use everstep_engine::Because;
    use everstep_model::{Generation, RunStatus};

    use super::*;

    fn done(effect: Effect) -> Done {
        Done {
            run: RunId::new("a").unwrap(),
            generation: Generation(2),
            status: RunStatus::Queued,
            effect,
        }
    }

    // B556
    #[test]
    fn the_sentence_names_what_was_done() {
        let (took_effect, at) = (done(Effect::Done), "charge:0".parse().unwrap());
        for (sentence, expected) in [
            (
                of_control(&took_effect, Control::Restart),
                "run `a` was restarted as generation 2 and is queued",
            ),
            (
                of_restart(&took_effect, &at),
                "run `a` was restarted at `charge:0` as generation 2 and is queued",
            ),
            (
                of_fork(&took_effect, &RunId::new("b").unwrap(), Some(&at)),
                "run `a` was forked from `b` at `charge:0` and is queued",
            ),
            (
                of_settlement(&took_effect, &at, &Settlement::Fail(String::new())),
                "`charge:0` was made to fail; run `a` is queued",
            ),
            (
                of_control(&done(Effect::NeedsWorker), Control::Resume),
                "run `a` was resumed and is queued; it continues when a worker offers matching code",
            ),
            (
                of_control(&done(Effect::Nothing(Because::NotFailed)), Control::Recover),
                "run `a` is queued; nothing to do: it did not fail",
            ),
            (
                of_control(&took_effect, Control::Pause),
                "run `a` is queued",
            ),
        ] {
            assert_eq!(sentence, expected);
        }
    }
}
