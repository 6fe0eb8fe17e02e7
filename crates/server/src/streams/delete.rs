//! `DELETE` removes a stream. Its data is kept while forks need it.

use axum::body::Body;
use axum::http::StatusCode;
use axum::response::Response;
use everstep_engine::streams::StreamPath;

use super::reply::Reply;
use super::server::StreamServer;
use crate::failure::Failure;

pub(crate) async fn delete(
    server: &StreamServer,
    path: &StreamPath,
) -> Result<Response<Body>, Failure> {
    server.streams.delete(path).await?;
    Ok(Reply::new(StatusCode::NO_CONTENT).empty())
}
