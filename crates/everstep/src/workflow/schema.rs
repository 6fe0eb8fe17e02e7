//! Schemas of the input and output of a workflow.

use schemars::JsonSchema;

use super::workflow_trait::Workflow;
use crate::declaration::{Declare, Declared};

impl<W: Workflow> Declare<W> {
    /// Declares the schema of the input.
    pub fn input_with_schema(&mut self) -> &mut Self
    where
        W::Input: JsonSchema,
    {
        self.declaration.input = Some(Declared::with_schema::<W::Input>());
        self
    }

    /// Declares the schema of the output.
    pub fn output_with_schema(&mut self) -> &mut Self
    where
        W::Output: JsonSchema,
    {
        self.declaration.output = Some(Declared::with_schema::<W::Output>());
        self
    }
}
