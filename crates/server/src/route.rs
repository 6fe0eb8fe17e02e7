//! A route: its method and path, what it requires of the caller, its handler, and its documentation
//! for `/openapi.json`.

use axum::handler::Handler;
use axum::http::Method;
use axum::routing::{MethodFilter, MethodRouter, on};
use everstep_protocol::{Problem, problem};
use schemars::{JsonSchema, Schema, SchemaGenerator};

use crate::auth::Requirement;
use crate::parameters::Parameter;

/// Everything about a route except its handler.
#[derive(Clone, Debug)]
pub(crate) struct Endpoint {
    pub(crate) method: Method,
    pub(crate) path: &'static str,
    pub(crate) requires: Requirement,
    pub(crate) summary: &'static str,
    pub(crate) parameters: &'static [Parameter],
    /// Names and descriptions of the request headers.
    pub(crate) headers: Vec<(&'static str, &'static str)>,
    pub(crate) request: Option<RequestDoc>,
    /// Whether the body is a journal, which may be larger than other bodies.
    pub(crate) is_import: bool,
    pub(crate) responses: Vec<ResponseDoc>,
}

#[derive(Clone, Debug)]
pub(crate) struct RequestDoc {
    pub(crate) content: Content,
    pub(crate) required: bool,
}

#[derive(Clone, Debug)]
pub(crate) struct ResponseDoc {
    pub(crate) status: u16,
    pub(crate) description: &'static str,
    pub(crate) contents: Vec<Content>,
}

/// A request or response body.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Content {
    pub(crate) media_type: &'static str,
    /// Generates the schema. `None` if the body may be anything.
    pub(crate) schema: Option<fn(&mut SchemaGenerator) -> Schema>,
}

impl Content {
    /// Describes the body of every error response.
    pub(crate) fn problem() -> Self {
        Self {
            media_type: problem::MEDIA_TYPE,
            ..Self::json::<Problem>()
        }
    }

    fn json<T: JsonSchema>() -> Self {
        Self {
            media_type: "application/json",
            schema: Some(|generator| generator.subschema_for::<T>()),
        }
    }

    fn anything(media_type: &'static str) -> Self {
        Self {
            media_type,
            schema: None,
        }
    }
}

/// A route whose handler still needs a state of type `S`. See [`bind`].
pub(crate) struct Route<S = ()> {
    pub(crate) endpoint: Endpoint,
    pub(crate) handler: MethodRouter<S>,
}

/// Gives routes the state that their handlers need.
pub(crate) fn bind<S: Clone>(state: &S, routes: Vec<Route<S>>) -> Vec<Route> {
    let bound = routes.into_iter().map(|route| Route {
        endpoint: route.endpoint,
        handler: route.handler.with_state(state.clone()),
    });
    bound.collect()
}

/// Defines one constructor per method.
macro_rules! constructors {
    ($($name:ident $method:ident),*) => {$(
        pub(crate) fn $name<T: 'static>(
            path: &'static str,
            requires: Requirement,
            handler: impl Handler<T, S>,
        ) -> Self {
            Self::new(Method::$method, path, requires, on(MethodFilter::$method, handler))
        }
    )*};
}

impl<S: Clone + Send + Sync + 'static> Route<S> {
    constructors!(get GET, head HEAD, post POST, put PUT, delete DELETE);

    fn new(
        method: Method,
        path: &'static str,
        requires: Requirement,
        handler: MethodRouter<S>,
    ) -> Self {
        let endpoint = Endpoint {
            method,
            path,
            requires,
            summary: "",
            parameters: &[],
            headers: Vec::new(),
            request: None,
            is_import: false,
            responses: Vec::new(),
        };
        Self { endpoint, handler }
    }

    pub(crate) fn summary(mut self, summary: &'static str) -> Self {
        self.endpoint.summary = summary;
        self
    }

    /// Sets the query parameters.
    pub(crate) fn parameters(mut self, parameters: &'static [Parameter]) -> Self {
        self.endpoint.parameters = parameters;
        self
    }

    /// Adds a request header.
    pub(crate) fn header(mut self, name: &'static str, description: &'static str) -> Self {
        self.endpoint.headers.push((name, description));
        self
    }

    /// Sets the request body to a `T` as JSON.
    pub(crate) fn accepts<T: JsonSchema>(mut self) -> Self {
        self.endpoint.request = Some(RequestDoc {
            content: Content::json::<T>(),
            required: has_required_fields::<T>(),
        });
        self
    }

    /// Sets the request body to anything of this media type.
    pub(crate) fn accepts_any(mut self, media_type: &'static str) -> Self {
        self.endpoint.request = Some(RequestDoc {
            content: Content::anything(media_type),
            required: false,
        });
        self
    }

    /// Counts the request body apart from those of other routes.
    pub(crate) fn imports(mut self) -> Self {
        self.endpoint.is_import = true;
        self
    }

    /// Adds a response whose body is a `T` as JSON.
    pub(crate) fn returns<T: JsonSchema>(self, status: u16, description: &'static str) -> Self {
        self.response(status, description, vec![Content::json::<T>()])
    }

    /// Adds a response whose body is anything of this media type.
    pub(crate) fn returns_any(
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

    /// Adds another media type to the last response. `Accept` selects it.
    pub(crate) fn or_any(mut self, media_type: &'static str) -> Self {
        if let Some(response) = self.endpoint.responses.last_mut() {
            response.contents.push(Content::anything(media_type));
        }
        self
    }

    fn response(mut self, status: u16, description: &'static str, contents: Vec<Content>) -> Self {
        self.endpoint.responses.push(ResponseDoc {
            status,
            description,
            contents,
        });
        self
    }
}

fn has_required_fields<T: JsonSchema>() -> bool {
    let schema = SchemaGenerator::default().into_root_schema_for::<T>();
    let required = schema.get("required");
    let required = required.and_then(|required| required.as_array());
    required.is_some_and(|required| !required.is_empty())
}
