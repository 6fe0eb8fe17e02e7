//! What is said about a route besides its method and path: what it takes and what it gives.

use everstep_protocol::Problem;
use schemars::{JsonSchema, Schema, SchemaGenerator};

use crate::workflows::parameters::Parameter;

/// Makes the schema of a type.
type SchemaOf = fn(&mut SchemaGenerator) -> Schema;

/// What is said about a route.
#[derive(Clone, Debug, Default)]
pub(crate) struct About {
    pub(super) summary: &'static str,
    pub(super) parameters: &'static [Parameter],
    /// Headers that it reads, and what they are for.
    pub(super) headers: Vec<(&'static str, &'static str)>,
    pub(super) takes: Option<Content>,
    pub(super) gives: Vec<Given>,
}

/// A body.
#[derive(Clone, Copy, Debug)]
pub(super) struct Content {
    pub(super) media_type: &'static str,
    /// None if it may be anything.
    pub(super) schema: Option<SchemaOf>,
    /// Whether it may be left out.
    pub(super) optional: bool,
}

/// An answer.
#[derive(Clone, Debug)]
pub(super) struct Given {
    pub(super) status: u16,
    pub(super) about: &'static str,
    pub(super) contents: Vec<Content>,
}

const JSON: &str = "application/json";

fn schema_of<T: JsonSchema>(generator: &mut SchemaGenerator) -> Schema {
    generator.subschema_for::<T>()
}

impl About {
    pub(crate) fn new(summary: &'static str) -> Self {
        Self {
            summary,
            ..Self::default()
        }
    }

    /// Its query may say these.
    pub(crate) fn parameters(mut self, parameters: &'static [Parameter]) -> Self {
        self.parameters = parameters;
        self
    }

    /// It reads a header.
    pub(crate) fn header(mut self, name: &'static str, about: &'static str) -> Self {
        self.headers.push((name, about));
        self
    }

    /// Its body is this, as JSON.
    pub(crate) fn takes<T: JsonSchema>(self) -> Self {
        self.body(JSON, Some(schema_of::<T>), !has_required::<T>())
    }

    /// Its body is any JSON value.
    pub(crate) fn takes_any(self) -> Self {
        self.body(JSON, None, true)
    }

    /// Its body is whatever is said in `Content-Type`.
    pub(crate) fn takes_as(self, media_type: &'static str) -> Self {
        self.body(media_type, None, true)
    }

    fn body(mut self, media_type: &'static str, schema: Option<SchemaOf>, optional: bool) -> Self {
        self.takes = Some(Content {
            media_type,
            schema,
            optional,
        });
        self
    }

    /// It answers with this, as JSON.
    pub(crate) fn gives<T: JsonSchema>(self, status: u16, about: &'static str) -> Self {
        let content = Content {
            media_type: JSON,
            schema: Some(schema_of::<T>),
            optional: false,
        };
        self.answer(status, about, vec![content])
    }

    /// It answers with something of that type.
    pub(crate) fn gives_as(
        self,
        status: u16,
        media_type: &'static str,
        about: &'static str,
    ) -> Self {
        self.answer(status, about, vec![Content::anything(media_type)])
    }

    /// It answers without a body.
    pub(crate) fn gives_nothing(self, status: u16, about: &'static str) -> Self {
        self.answer(status, about, Vec::new())
    }

    /// The answer of that status may also be of this type, if the caller prefers it.
    pub(crate) fn or_as(mut self, status: u16, media_type: &'static str) -> Self {
        if let Some(given) = self.gives.iter_mut().find(|given| given.status == status) {
            given.contents.push(Content::anything(media_type));
        }
        self
    }

    fn answer(mut self, status: u16, about: &'static str, contents: Vec<Content>) -> Self {
        self.gives.push(Given {
            status,
            about,
            contents,
        });
        self
    }

    /// What every route answers when it refuses.
    pub(super) fn refusal() -> Content {
        Content {
            media_type: everstep_protocol::problem::MEDIA_TYPE,
            schema: Some(schema_of::<Problem>),
            optional: false,
        }
    }
}

impl Content {
    fn anything(media_type: &'static str) -> Self {
        Self {
            media_type,
            schema: None,
            optional: false,
        }
    }
}

/// Whether a request of that type must say something.
fn has_required<T: JsonSchema>() -> bool {
    let schema = SchemaGenerator::default().into_root_schema_for::<T>();
    let required = schema.get("required");
    let required = required.and_then(|required| required.as_array());
    required.is_some_and(|required| !required.is_empty())
}
