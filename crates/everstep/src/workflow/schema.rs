//! Schemas of the input and output of a workflow.

use schemars::JsonSchema;

use super::workflow_trait::Workflow;
use crate::declaration::Declare;

impl<W: Workflow> Declare<W> {
    /// Declares the schema of the input.
    pub fn input_with_schema(&mut self) -> &mut Self
    where
        W::Input: JsonSchema,
    {
        self.declaration.set_input_schema::<W::Input>();
        self
    }

    /// Declares the schema of the output.
    pub fn output_with_schema(&mut self) -> &mut Self
    where
        W::Output: JsonSchema,
    {
        self.declaration.set_output_schema::<W::Output>();
        self
    }
}
