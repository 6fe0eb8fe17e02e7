//! The declaration of a workflow: its input, output, events and rpcs, with their JSON schemas.

use std::collections::BTreeMap;

use everstep_model::{Described, DescribedRpc, Description, Payload};
use schemars::JsonSchema;
use schemars::generate::Contract;
use serde::de::DeserializeOwned;

use super::schema::{TypeCheck, answer_schema, schema_of};
use super::{Event, Rpc};

/// The declaration of a workflow.
#[derive(Clone, Debug)]
pub struct Declaration {
    pub(crate) input: TypeCheck,
    output: Option<Payload>,
    interface: Declare,
}

/// Collects the events and rpcs of an interface.
#[derive(Clone, Debug, Default)]
pub struct Declare {
    events: BTreeMap<&'static str, TypeCheck>,
    accepts_any: bool,
    rpcs: BTreeMap<&'static str, DeclaredRpc>,
}

#[derive(Clone, Debug)]
struct DeclaredRpc {
    args: Option<Payload>,
    answer: TypeCheck,
}

impl Declare {
    /// Declares an event that the workflow accepts.
    pub fn event<E: Event>(&mut self) -> &mut Self {
        self.events.insert(E::NAME, TypeCheck::of::<E>());
        self
    }

    /// Declares that the workflow accepts every event.
    pub fn any_event(&mut self) -> &mut Self {
        self.accepts_any = true;
        self
    }

    /// Declares an rpc that the workflow makes.
    pub fn rpc<R: Rpc>(&mut self) -> &mut Self {
        let rpc = DeclaredRpc {
            args: schema_of::<R>(Contract::Serialize),
            answer: TypeCheck::of::<R::Answer>(),
        };
        self.rpcs.insert(R::METHOD, rpc);
        self
    }
}

impl Declaration {
    pub(crate) fn of<I: DeserializeOwned + JsonSchema, O: JsonSchema>(interface: Declare) -> Self {
        Self {
            input: TypeCheck::of::<I>(),
            output: schema_of::<O>(Contract::Serialize),
            interface,
        }
    }

    /// Returns the names of the accepted events. `None` means that every event is accepted.
    #[must_use]
    pub fn events(&self) -> Option<Vec<&'static str>> {
        let events = &self.interface;
        (!events.accepts_any).then(|| events.events.keys().copied().collect())
    }

    /// Returns whether the workflow declares an rpc with that method.
    #[must_use]
    pub fn makes_rpc(&self, method: &str) -> bool {
        self.interface.rpcs.contains_key(method)
    }

    /// Returns the schema of the answer to a declared rpc.
    pub(crate) fn answer_schema<R: Rpc>(&self) -> Option<Payload> {
        match self.interface.rpcs.get(R::METHOD) {
            Some(rpc) => rpc.answer.schema.clone(),
            None => answer_schema::<R>(),
        }
    }

    pub(crate) fn is_accepted(&self, event: &str) -> bool {
        self.interface.accepts_any || self.interface.events.contains_key(event)
    }

    /// Checks the payload of an event. The payloads of events that are not named in the interface
    /// are not checked.
    pub(crate) fn check_event(&self, name: &str, payload: &Payload) -> Result<(), String> {
        let declared = self.interface.events.get(name);
        declared.map_or(Ok(()), |declared| declared.check(payload))
    }

    /// Checks the answer to an rpc. Returns `None` if the interface does not name the rpc.
    pub(crate) fn check_answer(
        &self,
        method: &str,
        answer: &Payload,
    ) -> Option<Result<(), String>> {
        Some(self.interface.rpcs.get(method)?.answer.check(answer))
    }

    /// Returns the declaration as data.
    #[must_use]
    pub fn describe(&self) -> Description {
        let events = self.interface.events.iter().map(|(name, event)| {
            let schema = event.schema.clone();
            ((*name).to_owned(), Described { schema })
        });
        let rpcs = self.interface.rpcs.iter().map(|(method, rpc)| {
            let described = DescribedRpc {
                args: rpc.args.clone(),
                schema: rpc.answer.schema.clone(),
            };
            ((*method).to_owned(), described)
        });
        Description {
            input: self.input.schema.clone(),
            output: self.output.clone(),
            events: (!self.interface.accepts_any).then(|| events.collect()),
            rpcs: rpcs.collect(),
            deadline: None,
        }
    }
}
