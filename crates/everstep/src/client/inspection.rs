//! A run as people look at it afterwards: its timeline, and its shape.

use everstep_inspect::{Line, Shape, shape, timeline};

use super::ReadError;

use super::RunHandle;

impl RunHandle {
    /// The run's journal as an audit trail: who, what, when, how long. [`crate::inspect::to_json_lines`] writes it for programs.
    ///
    /// # Errors
    /// If the store fails.
    pub async fn timeline(&self) -> Result<Vec<Line>, ReadError> {
        Ok(timeline(&self.journal().await?))
    }

    /// The run's structure: steps, branches, loops, and how each stands. [`crate::inspect::to_mermaid`] draws it.
    ///
    /// # Errors
    /// If the store fails.
    pub async fn shape(&self) -> Result<Shape, ReadError> {
        Ok(shape(&self.journal().await?))
    }
}
