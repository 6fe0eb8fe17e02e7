//! A route: its method and path, what it requires of the caller, its documentation, and its handler.

use std::sync::Arc;

use axum::handler::Handler;
use axum::http::Method;
use axum::routing::{MethodFilter, MethodRouter, on};

use crate::auth::Requirement;
use crate::route_doc::RouteDoc;

/// Everything about a route except its handler.
#[derive(Debug)]
pub(crate) struct Endpoint {
    pub(crate) method: Method,
    pub(crate) path: &'static str,
    pub(crate) requires: Requirement,
    pub(crate) doc: RouteDoc,
}

/// A route whose handler still needs a state of type `S`. See [`bind`].
pub(crate) struct Route<S = ()> {
    pub(crate) endpoint: Arc<Endpoint>,
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

impl<S: Clone + Send + Sync + 'static> Route<S> {
    pub(crate) fn get<T: 'static>(
        path: &'static str,
        requires: Requirement,
        handler: impl Handler<T, S>,
        doc: RouteDoc,
    ) -> Self {
        let handler = on(MethodFilter::GET, handler);
        Self::new(Method::GET, path, requires, handler, doc)
    }

    pub(crate) fn head<T: 'static>(
        path: &'static str,
        requires: Requirement,
        handler: impl Handler<T, S>,
        doc: RouteDoc,
    ) -> Self {
        let handler = on(MethodFilter::HEAD, handler);
        Self::new(Method::HEAD, path, requires, handler, doc)
    }

    pub(crate) fn post<T: 'static>(
        path: &'static str,
        requires: Requirement,
        handler: impl Handler<T, S>,
        doc: RouteDoc,
    ) -> Self {
        let handler = on(MethodFilter::POST, handler);
        Self::new(Method::POST, path, requires, handler, doc)
    }

    pub(crate) fn put<T: 'static>(
        path: &'static str,
        requires: Requirement,
        handler: impl Handler<T, S>,
        doc: RouteDoc,
    ) -> Self {
        let handler = on(MethodFilter::PUT, handler);
        Self::new(Method::PUT, path, requires, handler, doc)
    }

    pub(crate) fn delete<T: 'static>(
        path: &'static str,
        requires: Requirement,
        handler: impl Handler<T, S>,
        doc: RouteDoc,
    ) -> Self {
        let handler = on(MethodFilter::DELETE, handler);
        Self::new(Method::DELETE, path, requires, handler, doc)
    }

    fn new(
        method: Method,
        path: &'static str,
        requires: Requirement,
        handler: MethodRouter<S>,
        doc: RouteDoc,
    ) -> Self {
        let endpoint = Endpoint {
            method,
            path,
            requires,
            doc,
        };
        Self {
            endpoint: Arc::new(endpoint),
            handler,
        }
    }
}
