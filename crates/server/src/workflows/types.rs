//! `GET /types` lists the workflows that can be started.

use axum::http::StatusCode;
use axum::response::Response;
use everstep_protocol::workflow::{TypePage, TypeView};

use super::call::{Call, respond};
use crate::failure::Failure;

pub(crate) async fn list(call: Call) -> Result<Response, Failure> {
    let known = call.engine().workflows().await?;
    let types = known.into_iter().map(|known| TypeView {
        workflow: known.workflow,
        newest: known.newest,
        offered: known.offered.map(|range| range.into_inner()),
        description: known.description.map(|described| (*described).clone()),
    });
    let types = types.collect();
    respond(StatusCode::OK, &TypePage { types })
}
