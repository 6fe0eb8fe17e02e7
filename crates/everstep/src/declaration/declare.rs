//! The declaration of a workflow: its events, rpcs and, with the `schema` feature, their schemas.

use std::collections::BTreeMap;
use std::marker::PhantomData;

use everstep_model::{Described, Description, Payload};
use serde::de::DeserializeOwned;

use super::{Accepts, Event, Rpc};

/// Checks a payload against a type.
type Check = fn(&Payload) -> Result<(), String>;

/// The type of a payload.
#[derive(Clone, Debug)]
pub(crate) struct Declared {
    check: Check,
    schema: Option<Payload>,
}

/// The declaration of a workflow.
#[derive(Clone, Debug, Default)]
pub struct Declaration {
    pub(crate) events: BTreeMap<&'static str, Declared>,
    pub(crate) rpcs: BTreeMap<&'static str, Declared>,
    pub(crate) input: Option<Declared>,
    pub(crate) output: Option<Declared>,
}

impl Declaration {
    /// Returns the names of the declared events.
    pub fn events(&self) -> impl Iterator<Item = &'static str> {
        self.events.keys().copied()
    }

    /// Returns the schema of an event.
    #[must_use]
    pub fn event_schema(&self, name: &str) -> Option<&Payload> {
        self.events.get(name)?.schema.as_ref()
    }

    /// Returns the schema of an rpc's answer.
    #[must_use]
    pub fn rpc_schema(&self, method: &str) -> Option<&Payload> {
        self.rpcs.get(method)?.schema.as_ref()
    }

    /// Returns the schema of the input.
    #[must_use]
    pub fn input_schema(&self) -> Option<&Payload> {
        self.input.as_ref()?.schema.as_ref()
    }

    /// Returns the schema of the output.
    #[must_use]
    pub fn output_schema(&self) -> Option<&Payload> {
        self.output.as_ref()?.schema.as_ref()
    }

    pub(crate) fn describe(&self) -> Description {
        let all = |map: &BTreeMap<&'static str, Declared>| -> BTreeMap<_, _> {
            let described = map.iter().map(|(name, declared)| {
                let schema = declared.schema.clone();
                ((*name).to_owned(), Described { schema })
            });
            described.collect()
        };
        Description {
            input: self.input_schema().cloned(),
            output: self.output_schema().cloned(),
            events: (!self.events.is_empty()).then(|| all(&self.events)),
            rpcs: all(&self.rpcs),
            deadline: None,
        }
    }

    pub(crate) fn of_input<I: DeserializeOwned>() -> Self {
        Self {
            input: Some(Declared::of::<I>()),
            ..Self::default()
        }
    }
}

/// Checks a payload. What is not declared is not checked.
pub(crate) fn check(declared: Option<&Declared>, payload: &Payload) -> Result<(), String> {
    declared.map_or(Ok(()), |declared| (declared.check)(payload))
}

impl Declared {
    fn of<T: DeserializeOwned>() -> Self {
        Self {
            check: |payload| {
                let decoded = payload.decode::<T>();
                decoded.map(drop).map_err(|error| error.to_string())
            },
            schema: None,
        }
    }

    #[cfg(feature = "schema")]
    pub(crate) fn with_schema<T: DeserializeOwned + schemars::JsonSchema>() -> Self {
        Self {
            schema: Payload::from_value(&schemars::schema_for!(T)).ok(),
            ..Self::of::<T>()
        }
    }
}

/// Builds the declaration of a workflow.
#[derive(Debug)]
pub struct Declare<W> {
    pub(crate) declaration: Declaration,
    workflow: PhantomData<fn() -> W>,
}

impl<W> Declare<W> {
    pub(crate) fn new(declaration: Declaration) -> Self {
        Self {
            declaration,
            workflow: PhantomData,
        }
    }

    /// Declares an event that the workflow accepts.
    pub fn event<E: Event>(&mut self) -> &mut Self
    where
        W: Accepts<E>,
    {
        self.declaration.events.insert(E::NAME, Declared::of::<E>());
        self
    }

    /// Declares an rpc that the workflow makes.
    pub fn rpc<R: Rpc>(&mut self) -> &mut Self {
        self.declaration
            .rpcs
            .insert(R::METHOD, Declared::of::<R::Answer>());
        self
    }
}

#[cfg(feature = "schema")]
impl<W> Declare<W> {
    /// Declares an event with the schema of its payload.
    pub fn event_with_schema<E: Event + schemars::JsonSchema>(&mut self) -> &mut Self
    where
        W: Accepts<E>,
    {
        self.declaration
            .events
            .insert(E::NAME, Declared::with_schema::<E>());
        self
    }

    /// Declares an rpc with the schema of its answer.
    pub fn rpc_with_schema<R: Rpc>(&mut self) -> &mut Self
    where
        R::Answer: schemars::JsonSchema,
    {
        self.declaration
            .rpcs
            .insert(R::METHOD, Declared::with_schema::<R::Answer>());
        self
    }
}
