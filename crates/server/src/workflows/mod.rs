//! The workflow API: one file per resource or verb. A handler parses a request, calls one function of
//! the engine, and writes the response. `failure.rs` maps errors to statuses.

mod audit;
mod bulk;
mod call;
mod control;
mod event;
mod list;
mod routes;
mod rpc;
mod show;
mod start;
mod step;
mod types;

pub(crate) use call::WorkflowRoutes;
pub(crate) use routes::routes;
