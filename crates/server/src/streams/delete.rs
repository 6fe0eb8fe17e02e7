//! `DELETE`: a stream goes, or is kept for its forks alone.

use axum::body::Body;
use axum::http::StatusCode;
use axum::response::Response;
use everstep_engine::streams::StreamPath;

use super::reply::Reply;
use crate::failure::Failure;
use crate::router::Shared;

pub(crate) async fn delete(shared: &Shared, path: &StreamPath) -> Result<Response<Body>, Failure> {
    shared.streams.delete(path).await?;
    Ok(Reply::new(StatusCode::NO_CONTENT).empty())
}
