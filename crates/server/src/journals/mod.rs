//! Journals of runs as streams: read like those of users, in one of three views; appended to by records of two kinds, which
//! go the way that the API's events and answers go. Everything else about them is the engine's to do.

mod address;
mod append;
mod appended;
mod views;

use std::sync::Arc;

use axum::body::Body;
use axum::http::{HeaderMap, Method, StatusCode};
use axum::response::Response;
use everstep_model::ErrorCode;

use address::JournalAddress;
pub(crate) use address::is_journal;

use crate::auth::Caller;
use crate::failure::Failure;
use crate::router::Shared;
use crate::streams::get::{self, Reading};
use crate::streams::head;
use crate::streams::query::Query;

/// A request about a journal.
pub(crate) struct Asked {
    pub(crate) path: String,
    pub(crate) caller: Caller,
    pub(crate) query: String,
    pub(crate) headers: HeaderMap,
    pub(crate) body: Body,
}

pub(crate) async fn dispatch(
    shared: Arc<Shared>,
    method: Method,
    asked: Asked,
) -> Result<Response, Failure> {
    if !matches!(method, Method::GET | Method::HEAD | Method::POST) {
        return Err(reserved(
            "only the engine creates, closes, forks and deletes journals; use the workflow API",
        ));
    }
    let address = JournalAddress::parse(&asked.path)?;
    match method {
        Method::GET => read(shared, address, asked).await,
        Method::HEAD => {
            let JournalAddress { run, generation } = address;
            let journal = shared.streams.journal(&run, generation).await?;
            Ok(head::answer(&journal.info))
        }
        _ => append::append(&shared, address, asked).await,
    }
}

async fn read(
    shared: Arc<Shared>,
    address: JournalAddress,
    asked: Asked,
) -> Result<Response, Failure> {
    let query = Query::parse(&asked.query)?;
    let view = address.view(&asked.caller, &asked.query)?;
    let JournalAddress { run, generation } = address;
    let headers = asked.headers;
    let render = |row: &_| views::render(view, row);
    let reader = shared
        .streams
        .read_journal(&run, generation, query.from, render)
        .await?;
    let reading = Reading {
        reader,
        query,
        view: Some(view),
    };
    get::answer(shared, reading, &headers).await
}

fn reserved(why: &str) -> Failure {
    Failure::new(StatusCode::FORBIDDEN, why).coded(ErrorCode::ReservedStream)
}
