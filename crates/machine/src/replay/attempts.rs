//! How attempts of steps and undos begin.

/// How attempts of steps and undos begin in this execution.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Attempts {
    /// At once.
    #[default]
    AtOnce,
    /// When their start is durable, as for fenced steps. If the run is what ends processes, the
    /// journal shows it.
    Announced,
    /// No further attempt begins, because the executor ends. Attempts in flight may end.
    Ending,
    /// None ever begins: this is a dry execution.
    Never,
}

impl Attempts {
    pub(super) fn may_begin(self) -> bool {
        matches!(self, Self::AtOnce | Self::Announced)
    }
}
