//! JSON schemas of types, and checks of payloads against types.

use everstep_engine::check_schema;
use everstep_model::Payload;
use schemars::JsonSchema;
use schemars::generate::{Contract, SchemaSettings};
use serde::de::DeserializeOwned;

use super::Rpc;

/// A type of payloads that the workflow reads.
#[derive(Clone, Debug)]
pub(crate) struct TypeCheck {
    pub(super) schema: Option<Payload>,
    decode: fn(&Payload) -> Result<(), String>,
}

impl TypeCheck {
    pub(super) fn of<T: DeserializeOwned + JsonSchema>() -> Self {
        Self {
            schema: schema_of::<T>(Contract::Deserialize),
            decode: |payload| {
                let decoded = payload.decode::<T>();
                decoded.map(drop).map_err(|error| error.to_string())
            },
        }
    }

    /// Checks a payload by decoding it. The schema explains the mismatch in terms of JSON; the
    /// decoder's own message names Rust types.
    pub(crate) fn check(&self, payload: &Payload) -> Result<(), String> {
        (self.decode)(payload).map_err(|error| {
            check_schema(self.schema.as_ref(), payload)
                .err()
                .unwrap_or(error)
        })
    }
}

/// Returns the schema of the answer to an rpc.
pub(crate) fn answer_schema<R: Rpc>() -> Option<Payload> {
    schema_of::<R::Answer>(Contract::Deserialize)
}

/// Returns the schema of a type as JSON that is read or written by the workflow.
pub(super) fn schema_of<T: JsonSchema>(contract: Contract) -> Option<Payload> {
    let settings = SchemaSettings::draft2020_12().with(|settings| {
        settings.meta_schema = None;
        settings.contract = contract;
    });
    let schema = settings.into_generator().into_root_schema_for::<T>();
    Payload::from_value(&schema).ok()
}
