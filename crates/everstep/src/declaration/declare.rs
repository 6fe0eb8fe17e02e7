//! What a workflow tells about itself: its events, rpcs and, with the `schema` feature, the shape of everything.

use std::collections::BTreeMap;
use std::marker::PhantomData;

use everstep_model::Payload;
use serde::de::DeserializeOwned;

use super::Rpc;
use super::{Accepts, Event};

/// Checks a payload against a type.
type Check = fn(&Payload) -> Result<(), String>;

/// Something declared: how to check it, and its schema if it has one.
#[derive(Clone, Debug)]
pub(crate) struct Declared {
    check: Check,
    schema: Option<Payload>,
}

/// What a workflow told about itself.
#[derive(Clone, Debug, Default)]
pub struct Declaration {
    events: BTreeMap<&'static str, Declared>,
    rpcs: BTreeMap<&'static str, Declared>,
    input: Option<Declared>,
    output: Option<Declared>,
}

impl Declaration {
    /// The names of the declared events.
    pub fn events(&self) -> impl Iterator<Item = &'static str> {
        self.events.keys().copied()
    }

    /// The schema of an event.
    #[must_use]
    pub fn event_schema(&self, name: &str) -> Option<&Payload> {
        self.events.get(name)?.schema.as_ref()
    }

    /// The schema of an rpc's answer.
    #[must_use]
    pub fn rpc_schema(&self, method: &str) -> Option<&Payload> {
        self.rpcs.get(method)?.schema.as_ref()
    }

    /// The schema of the input.
    #[must_use]
    pub fn input_schema(&self) -> Option<&Payload> {
        self.input.as_ref()?.schema.as_ref()
    }

    /// The schema of the output.
    #[must_use]
    pub fn output_schema(&self) -> Option<&Payload> {
        self.output.as_ref()?.schema.as_ref()
    }

    /// Whether an event of that name is accepted. A workflow that declares none accepts all.
    pub(crate) fn accepts(&self, name: &str) -> bool {
        self.events.is_empty() || self.events.contains_key(name)
    }

    pub(crate) fn check_event(&self, name: &str, payload: &Payload) -> Result<(), String> {
        self.events
            .get(name)
            .map_or(Ok(()), |declared| (declared.check)(payload))
    }

    pub(crate) fn check_answer(&self, method: &str, payload: &Payload) -> Result<(), String> {
        self.rpcs
            .get(method)
            .map_or(Ok(()), |declared| (declared.check)(payload))
    }

    pub(crate) fn check_input(&self, payload: &Payload) -> Result<(), String> {
        self.input
            .as_ref()
            .map_or(Ok(()), |declared| (declared.check)(payload))
    }

    /// The same in a form that can be sent.
    pub(crate) fn describe(&self) -> everstep_model::Description {
        let described = |declared: &Declared| everstep_model::Described {
            schema: declared.schema.clone(),
        };
        let all = |map: &BTreeMap<&'static str, Declared>| {
            let described = map
                .iter()
                .map(|(name, one)| ((*name).to_owned(), described(one)));
            described.collect::<BTreeMap<_, _>>()
        };
        everstep_model::Description {
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

impl Declared {
    fn of<T: DeserializeOwned>() -> Self {
        Self {
            check: |payload| {
                payload
                    .decode::<T>()
                    .map(drop)
                    .map_err(|error| error.to_string())
            },
            schema: None,
        }
    }

    #[cfg(feature = "schema")]
    fn with_schema<T: DeserializeOwned + schemars::JsonSchema>() -> Self {
        Self {
            schema: Payload::from_value(&schemars::schema_for!(T)).ok(),
            ..Self::of::<T>()
        }
    }
}

/// Where a workflow declares itself.
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

    /// An event it accepts.
    pub fn event<E: Event>(&mut self) -> &mut Self
    where
        W: Accepts<E>,
    {
        self.declaration.events.insert(E::NAME, Declared::of::<E>());
        self
    }

    /// A question it asks.
    pub fn rpc<R: Rpc>(&mut self) -> &mut Self {
        self.declaration
            .rpcs
            .insert(R::METHOD, Declared::of::<R::Answer>());
        self
    }
}

#[cfg(feature = "schema")]
impl<W> Declare<W> {
    /// An event it accepts, with the schema of its payload.
    pub fn event_with_schema<E: Event + schemars::JsonSchema>(&mut self) -> &mut Self
    where
        W: Accepts<E>,
    {
        self.declaration
            .events
            .insert(E::NAME, Declared::with_schema::<E>());
        self
    }

    /// A question it asks, with the schema of its answer.
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

#[cfg(feature = "schema")]
impl Declaration {
    pub(crate) fn set_input_schema<T: DeserializeOwned + schemars::JsonSchema>(&mut self) {
        self.input = Some(Declared::with_schema::<T>());
    }

    pub(crate) fn set_output_schema<T: DeserializeOwned + schemars::JsonSchema>(&mut self) {
        self.output = Some(Declared::with_schema::<T>());
    }
}
