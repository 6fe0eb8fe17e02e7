//! What an execution that has nothing left to do is waiting for.

use everstep_model::RunStatus;

use super::control::Pause;
use super::operation::Kind;
use super::{Phase, Replay, UndoState};

impl Replay {
    /// The status of a run that is suspended now. The most informative wait decides.
    #[must_use]
    pub fn resting_status(&self) -> RunStatus {
        if self.pause != Pause::No {
            return RunStatus::Paused;
        }
        if self.undo_state() == UndoState::Waiting {
            return RunStatus::RollingBack;
        }
        let mut status = RunStatus::Sleeping;
        for (_, operation) in self.operations.iter() {
            match &operation.kind {
                Kind::Wait { .. } | Kind::Rpc { .. } | Kind::Child(_) => return RunStatus::Waiting,
                Kind::Step(_) => status = RunStatus::Retrying,
                Kind::Sleep { .. } | Kind::Race | Kind::Loop | Kind::Rollback => {}
            }
        }
        if self.phase == Phase::Backoff {
            RunStatus::Retrying
        } else {
            status
        }
    }

    /// Whether nothing can ever wake the code: it awaits something that is not an operation.
    #[must_use]
    pub fn is_stuck(&self) -> bool {
        self.phase == Phase::Running
            && self.operations.is_empty()
            && self.is_settled()
            && self.unfolded.is_empty()
    }
}
