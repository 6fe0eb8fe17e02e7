//! Dispatches requests about journals by method, and handles reads.

use std::sync::Arc;

use axum::body::Body;
use axum::http::{HeaderMap, Method};
use axum::response::Response;
use everstep_engine::Engine;

use super::address::{JournalAddress, reserved};
use super::append::{Appender, JournalAppend};
use super::views;
use crate::auth::Caller;
use crate::failure::Failure;
use crate::streams::query::Query;
use crate::streams::{Reading, StreamServer, respond_to_read, respond_with_info};

pub(crate) struct Journals {
    pub(crate) engine: Engine,
    pub(crate) server: Arc<StreamServer>,
}

pub(crate) struct JournalRequest {
    /// The decoded path of the journal.
    pub(crate) path: String,
    pub(crate) caller: Caller,
    pub(crate) query: String,
    pub(crate) headers: HeaderMap,
    pub(crate) body: Body,
}

impl Journals {
    pub(crate) async fn dispatch(
        &self,
        method: Method,
        request: JournalRequest,
    ) -> Result<Response, Failure> {
        if !matches!(method, Method::GET | Method::HEAD | Method::POST) {
            return Err(reserved(
                "only the engine creates, closes, forks and deletes journals; use the workflow API",
            ));
        }
        let address = JournalAddress::parse(&request.path)?;
        match method {
            Method::GET => self.read(address, request).await,
            Method::HEAD => {
                let JournalAddress { run, generation } = address;
                let journal = self.server.streams.journal(&run, generation).await?;
                Ok(respond_with_info(&journal.info))
            }
            _ => self.append(address, request).await,
        }
    }

    async fn read(
        &self,
        address: JournalAddress,
        request: JournalRequest,
    ) -> Result<Response, Failure> {
        let query = Query::parse(&request.query)?;
        let view = address.view(&request.caller, &request.query)?;
        let JournalAddress { run, generation } = address;
        let render = |row: &_| views::render(view, row);
        let streams = &self.server.streams;
        let reader = streams
            .read_journal(&run, generation, query.from, render)
            .await?;
        let reading = Reading {
            reader,
            query,
            view: Some(view),
        };
        respond_to_read(self.server.clone(), reading, &request.headers).await
    }

    async fn append(
        &self,
        address: JournalAddress,
        request: JournalRequest,
    ) -> Result<Response, Failure> {
        let appender = Appender {
            engine: &self.engine,
            server: &self.server,
            address: &address,
            caller: &request.caller,
        };
        let append = JournalAppend {
            headers: request.headers,
            body: request.body,
        };
        appender.append(append).await
    }
}
