//! Every route there is, in one table: its method, its path, what it needs of the caller, and who handles it. The router is
//! made of the table, so that no route exists which does not say what it needs.

use std::collections::BTreeMap;
use std::sync::Arc;

use axum::Router;
use axum::handler::Handler;
use axum::http::{Method, StatusCode};
use axum::middleware::from_fn_with_state;
use axum::routing::{MethodFilter, MethodRouter, on};
use everstep_engine::{Role, Roles};
use everstep_model::ErrorCode;

use crate::auth::{self, Gate, Needs, admit};
use crate::failure::Failure;
use crate::openapi::{self, About};
use crate::router::Shared;
use crate::telemetry::{self, measure};
use crate::{streams, workers, workflows};

/// One route.
pub(crate) struct Route {
    pub(crate) method: Method,
    pub(crate) path: &'static str,
    pub(crate) needs: Needs,
    pub(crate) about: About,
    handler: MethodRouter<Arc<Shared>>,
}

impl Route {
    pub(crate) fn get<T: 'static>(
        path: &'static str,
        needs: Needs,
        handler: impl Handler<T, Arc<Shared>>,
    ) -> Self {
        Self::new(Method::GET, MethodFilter::GET, path, needs, handler)
    }

    pub(crate) fn head<T: 'static>(
        path: &'static str,
        needs: Needs,
        handler: impl Handler<T, Arc<Shared>>,
    ) -> Self {
        Self::new(Method::HEAD, MethodFilter::HEAD, path, needs, handler)
    }

    pub(crate) fn post<T: 'static>(
        path: &'static str,
        needs: Needs,
        handler: impl Handler<T, Arc<Shared>>,
    ) -> Self {
        Self::new(Method::POST, MethodFilter::POST, path, needs, handler)
    }

    pub(crate) fn put<T: 'static>(
        path: &'static str,
        needs: Needs,
        handler: impl Handler<T, Arc<Shared>>,
    ) -> Self {
        Self::new(Method::PUT, MethodFilter::PUT, path, needs, handler)
    }

    pub(crate) fn delete<T: 'static>(
        path: &'static str,
        needs: Needs,
        handler: impl Handler<T, Arc<Shared>>,
    ) -> Self {
        Self::new(Method::DELETE, MethodFilter::DELETE, path, needs, handler)
    }

    fn new<T: 'static>(
        method: Method,
        filter: MethodFilter,
        path: &'static str,
        needs: Needs,
        handler: impl Handler<T, Arc<Shared>>,
    ) -> Self {
        Self {
            method,
            path,
            needs,
            about: About::default(),
            handler: on(filter, handler),
        }
    }

    /// The same with what is said about it.
    pub(crate) fn about(mut self, about: About) -> Self {
        self.about = about;
        self
    }
}

/// The routes of a node with these roles. How it is doing every node says.
pub(crate) fn table(roles: Roles) -> Vec<Route> {
    let mut rows = Vec::new();
    if roles.has(Role::Api) {
        rows.extend(streams::routes());
        rows.extend(workflows::routes());
        rows.extend(auth::routes());
    }
    if roles.has(Role::Worker) {
        rows.extend(workers::routes());
    }
    rows.extend(openapi::routes());
    rows.extend(telemetry::routes());
    rows
}

/// The router of the table, each route behind a gate of its own.
pub(crate) fn build(shared: &Arc<Shared>, table: Vec<Route>) -> Router<Arc<Shared>> {
    let mut paths: BTreeMap<&str, MethodRouter<Arc<Shared>>> = BTreeMap::new();
    for route in table {
        let gate = Gate {
            shared: shared.clone(),
            needs: route.needs,
        };
        let measured = shared.metrics.route(&route.method, route.path);
        let guarded = route.handler.layer(from_fn_with_state(gate, admit));
        let guarded = guarded.layer(from_fn_with_state(measured, measure));
        let others = paths.remove(route.path).unwrap_or_default();
        paths.insert(route.path, others.merge(guarded));
    }
    paths
        .into_iter()
        .fold(Router::new(), |router, (path, methods)| {
            router.route(path, methods.fallback(no_such_method))
        })
        .fallback(no_such_route)
}

async fn no_such_route() -> Failure {
    let detail = "there is nothing at this address; `/openapi.json` names all there is";
    Failure::new(StatusCode::NOT_FOUND, detail).coded(ErrorCode::NoRoute)
}

async fn no_such_method() -> Failure {
    let detail = "this address does not know that method";
    Failure::new(StatusCode::METHOD_NOT_ALLOWED, detail).coded(ErrorCode::NoRoute)
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use super::*;

    const TEXT: &str = include_str!("../../../PROTOCOL.md");

    #[test]
    fn every_route_is_in_the_text_and_no_other() {
        let (_, asking) = TEXT.split_once("\n## 5. Asking\n").unwrap();
        let (asking, _) = asking.split_once("\n## ").unwrap();
        let said = asking.lines().filter_map(|line| {
            let mut cells = line.strip_prefix("| `")?.split('`');
            Some(format!("{} {}", cells.next()?, cells.nth(1)?))
        });
        let said: BTreeSet<String> = said.collect();
        let routes = table(Roles::ALL);
        let there = routes
            .iter()
            .map(|route| format!("{} {}", route.method, route.path));
        assert_eq!(said, there.collect());
    }
}
