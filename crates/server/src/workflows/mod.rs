//! The workflow API. A handler parses a request, calls one function of the engine, and writes the
//! response. `status.rs` maps errors to statuses.

mod audit;
mod bulk;
mod bulk_summary;
mod call;
mod control;
mod control_message;
mod import;
mod list;
mod messages;
mod operation;
mod page_cursor;
mod permitted;
mod routes;
mod shape;
mod shape_size;
mod show;
mod start;
mod steps_page;

pub(crate) use call::WorkflowRoutes;
pub(crate) use routes::routes;
pub(crate) use shape_size::ShapeSize;
