//! The table of all routes, and the router that is built from it. Every route passes a gate that
//! checks what it requires of the caller.

use std::collections::BTreeMap;

use axum::Router;
use axum::routing::MethodRouter;
use everstep_engine::Role;

use crate::admission::Admission;
use crate::around::Surround;
use crate::auth::Gate;
use crate::failure::Failure;
use crate::route::{Route, bind};
use crate::services::Services;
use crate::telemetry;
use crate::{key_routes, openapi, stream_routes, workers, workflows};

/// Returns the routes of a node. They depend on the roles of its engine; health checks and metrics
/// are always there.
pub(crate) fn table(services: &Services) -> Vec<Route> {
    let roles = services.engine.roles();
    let mut routes = Vec::new();
    if roles.has(Role::Api) {
        routes.extend(bind(&services.streams, stream_routes::routes()));
        routes.extend(bind(&services.workflows, workflows::routes()));
        routes.extend(bind(&services.keys, key_routes::routes()));
    }
    if roles.has(Role::Worker) {
        routes.extend(bind(&services.workers, workers::routes()));
    }
    routes.extend(bind(&services.engine, telemetry::health_routes()));
    routes.extend(bind(&services.metrics, telemetry::metrics_routes()));
    let description = openapi::routes(&routes);
    routes.extend(description);
    routes
}

/// Builds a router in which each route is behind a gate of its own.
pub(crate) fn build(services: &Services, table: Vec<Route>) -> Router {
    let mut paths: BTreeMap<&str, MethodRouter> = BTreeMap::new();
    for Route { endpoint, handler } in table {
        let gate = Gate {
            identities: services.identities.clone(),
            engine: services.engine.clone(),
            requires: endpoint.requires,
        };
        let metrics = services.metrics.route(&endpoint.method, endpoint.path);
        let budgets = match endpoint.requires.is_for_workers() {
            true => services.worker_budgets.clone(),
            false if endpoint.is_import => services.import_budgets.clone(),
            false => services.budgets.clone(),
        };
        let admission = Admission::new(gate, budgets);
        let handler = handler.layer((Surround(metrics), admission));
        let other_methods = paths.remove(endpoint.path).unwrap_or_default();
        paths.insert(endpoint.path, other_methods.merge(handler));
    }
    paths
        .into_iter()
        .fold(Router::new(), |router, (path, methods)| {
            router.route(path, methods.fallback(async || Failure::unknown_method()))
        })
        .fallback(async || Failure::unknown_route())
}

/// Returns the routes of a node with all roles.
#[cfg(test)]
pub(crate) async fn all_routes() -> Vec<Route> {
    let engine = everstep::Engine::in_memory().start().await.unwrap();
    let services = Services::new(engine.as_ref(), &Default::default());
    table(&services)
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use everstep_protocol::access::Scope;

    use super::*;
    use crate::auth::{Requirement, RunAction};

    const PROTOCOL: &str = include_str!("../../../PROTOCOL.md");

    /// Returns what a route needs, in the words of the document.
    fn needs(requires: Requirement) -> String {
        let all = |scopes: &[Scope]| {
            let scopes: Vec<String> = scopes.iter().map(|it| format!("`{it}`")).collect();
            scopes.join(" and ")
        };
        match requires {
            Requirement::Public => "nothing".to_owned(),
            Requirement::Scopes(scopes) => all(scopes),
            Requirement::Unlimited(scopes) => format!("{}, without limits", all(scopes)),
            Requirement::Stream => "by the stream".to_owned(),
            Requirement::Run(action) => {
                let token = match action {
                    RunAction::Read | RunAction::Send | RunAction::Answer => ", or a run token",
                    RunAction::ReadInFull => ", or a run token with the view `full`",
                    RunAction::ReadRecords | RunAction::Operate | RunAction::Fork => "",
                };
                all(action.scopes()) + token
            }
        }
    }

    // B856
    #[tokio::test]
    async fn the_protocol_document_lists_exactly_the_routes_with_what_they_need() {
        let (_, section) = PROTOCOL.split_once("\n## 5. Requests\n").unwrap();
        let (section, _) = section.split_once("\n## ").unwrap();
        let documented = section.lines().filter_map(|line| {
            let cells: Vec<&str> = line.strip_prefix("| `")?.split(" | ").collect();
            let (method, path) = (cells[0].trim_matches('`'), cells[1].trim_matches('`'));
            Some(format!("{method} {path} | {}", cells[2]))
        });
        let documented: BTreeSet<String> = documented.collect();
        let routes = all_routes().await;
        let endpoints = routes.iter().map(|route| &route.endpoint);
        let routes = endpoints.map(|endpoint| {
            let needs = needs(endpoint.requires);
            format!("{} {} | {needs}", endpoint.method, endpoint.path)
        });
        assert_eq!(documented, routes.collect());
    }
}
