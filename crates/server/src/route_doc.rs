//! The documentation of a route for `/openapi.json`: what it accepts and what it returns.

use everstep_protocol::Problem;
use schemars::{JsonSchema, Schema, SchemaGenerator};

use crate::parameters::Parameter;

/// Generates the schema of a type.
type SchemaOf = fn(&mut SchemaGenerator) -> Schema;

#[derive(Clone, Debug, Default)]
pub(crate) struct RouteDoc {
    pub(crate) summary: &'static str,
    pub(crate) parameters: &'static [Parameter],
    /// Names and descriptions of the request headers.
    pub(crate) headers: Vec<(&'static str, &'static str)>,
    pub(crate) request: Option<Content>,
    pub(crate) responses: Vec<ResponseDoc>,
}

/// A request or response body.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Content {
    pub(crate) media_type: &'static str,
    /// `None` if the body may be anything.
    pub(crate) schema: Option<SchemaOf>,
    pub(crate) optional: bool,
}

#[derive(Clone, Debug)]
pub(crate) struct ResponseDoc {
    pub(crate) status: u16,
    pub(crate) description: &'static str,
    pub(crate) contents: Vec<Content>,
}

const JSON: &str = "application/json";

fn schema_of<T: JsonSchema>(generator: &mut SchemaGenerator) -> Schema {
    generator.subschema_for::<T>()
}

impl RouteDoc {
    pub(crate) fn new(summary: &'static str) -> Self {
        Self {
            summary,
            ..Self::default()
        }
    }

    /// Adds the query parameters.
    pub(crate) fn parameters(mut self, parameters: &'static [Parameter]) -> Self {
        self.parameters = parameters;
        self
    }

    /// Adds a request header.
    pub(crate) fn header(mut self, name: &'static str, description: &'static str) -> Self {
        self.headers.push((name, description));
        self
    }

    /// The request body is a `T` as JSON.
    pub(crate) fn accepts<T: JsonSchema>(self) -> Self {
        self.body(JSON, Some(schema_of::<T>), !has_required::<T>())
    }

    /// The request body is any JSON value.
    pub(crate) fn accepts_any(self) -> Self {
        self.body(JSON, None, true)
    }

    /// The request body is anything of this media type.
    pub(crate) fn accepts_as(self, media_type: &'static str) -> Self {
        self.body(media_type, None, true)
    }

    fn body(mut self, media_type: &'static str, schema: Option<SchemaOf>, optional: bool) -> Self {
        self.request = Some(Content {
            media_type,
            schema,
            optional,
        });
        self
    }

    /// Adds a response whose body is a `T` as JSON.
    pub(crate) fn returns<T: JsonSchema>(self, status: u16, description: &'static str) -> Self {
        let content = Content {
            media_type: JSON,
            schema: Some(schema_of::<T>),
            optional: false,
        };
        self.response(status, description, vec![content])
    }

    /// Adds a response whose body is anything of this media type.
    pub(crate) fn returns_as(
        self,
        status: u16,
        media_type: &'static str,
        description: &'static str,
    ) -> Self {
        self.response(status, description, vec![Content::anything(media_type)])
    }

    /// Adds a response without a body.
    pub(crate) fn returns_empty(self, status: u16, description: &'static str) -> Self {
        self.response(status, description, Vec::new())
    }

    /// Adds another media type to the response of this status. `Accept` selects it.
    pub(crate) fn or_as(mut self, status: u16, media_type: &'static str) -> Self {
        let mut responses = self.responses.iter_mut();
        if let Some(response) = responses.find(|response| response.status == status) {
            response.contents.push(Content::anything(media_type));
        }
        self
    }

    fn response(mut self, status: u16, description: &'static str, contents: Vec<Content>) -> Self {
        self.responses.push(ResponseDoc {
            status,
            description,
            contents,
        });
        self
    }

    /// The body of every error response.
    pub(crate) fn problem() -> Content {
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

/// Returns whether a request of this type has required fields.
fn has_required<T: JsonSchema>() -> bool {
    let schema = SchemaGenerator::default().into_root_schema_for::<T>();
    let required = schema.get("required");
    let required = required.and_then(|required| required.as_array());
    required.is_some_and(|required| !required.is_empty())
}
