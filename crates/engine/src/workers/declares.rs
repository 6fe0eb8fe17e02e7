//! What workflows declare about their inputs, events and answers, by their code or by a
//! description.

use std::time::Duration;

use everstep_model::{Description, Payload};

use super::schema;

/// The declarations of a workflow. Each check returns the mismatch as text.
pub trait Declares: Send + Sync {
    /// Returns the events that the workflow accepts. `None` means any.
    fn accepts(&self) -> Option<Vec<String>> {
        None
    }

    /// Returns whether the workflow accepts an event of that name.
    fn is_accepted(&self, event: &str) -> bool {
        self.accepts()
            .is_none_or(|accepted| accepted.iter().any(|name| name == event))
    }

    /// Returns whether the workflow declares an rpc with that method.
    fn makes_rpc(&self, _method: &str) -> bool {
        false
    }

    /// Checks the input of a run.
    fn check_input(&self, _input: &Payload) -> Result<(), String> {
        Ok(())
    }

    /// Checks the payload of an event.
    fn check_event(&self, _name: &str, _payload: &Payload) -> Result<(), String> {
        Ok(())
    }

    /// Checks the answer to an rpc. Returns `None` if its type is not declared.
    fn check_answer(&self, _method: &str, _answer: &Payload) -> Option<Result<(), String>> {
        None
    }

    /// Returns how long runs may take from their creation, unless their start says otherwise.
    fn deadline(&self) -> Option<Duration> {
        None
    }

    /// Returns the declarations as data, for nodes without the code.
    fn description(&self) -> Option<Description> {
        None
    }
}

impl Declares for Description {
    fn accepts(&self) -> Option<Vec<String>> {
        let events = self.events.as_ref()?;
        Some(events.keys().cloned().collect())
    }

    fn is_accepted(&self, event: &str) -> bool {
        let mut events = self.events.iter();
        events.all(|events| events.contains_key(event))
    }

    fn makes_rpc(&self, method: &str) -> bool {
        self.rpcs.contains_key(method)
    }

    fn check_input(&self, input: &Payload) -> Result<(), String> {
        schema::check(self.input.as_ref(), input)
    }

    fn check_event(&self, name: &str, payload: &Payload) -> Result<(), String> {
        let described = self.events.as_ref().and_then(|events| events.get(name));
        schema::check(described.and_then(|event| event.schema.as_ref()), payload)
    }

    fn check_answer(&self, method: &str, answer: &Payload) -> Option<Result<(), String>> {
        let schema = self.rpcs.get(method)?.schema.as_ref()?;
        Some(schema::check(Some(schema), answer))
    }

    fn deadline(&self) -> Option<Duration> {
        self.deadline.map(Duration::from_millis)
    }

    fn description(&self) -> Option<Description> {
        Some(self.clone())
    }
}
