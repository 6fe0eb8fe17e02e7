//! Dispatches requests about journals by method, and handles reads.

use std::sync::Arc;

use axum::http::Method;
use axum::response::Response;
use everstep_engine::Engine;

use super::address::{JournalAddress, reserved};
use super::append::Appender;
use super::views;
use crate::failure::Failure;
use crate::streams::query::Query;
use crate::streams::{Reading, StreamRequest, StreamServer, respond_to_read, respond_with_info};

pub(crate) struct Journals {
    pub(crate) engine: Engine,
    pub(crate) server: Arc<StreamServer>,
}

impl Journals {
    /// Responds to a request about the journal at a decoded path.
    pub(crate) async fn dispatch(
        &self,
        method: Method,
        path: &str,
        request: StreamRequest,
    ) -> Result<Response, Failure> {
        if !matches!(method, Method::GET | Method::HEAD | Method::POST) {
            return Err(reserved(
                "only the engine creates, closes, forks and deletes journals; use the workflow API",
            ));
        }
        let address = JournalAddress::parse(path)?;
        match method {
            Method::GET => self.read(&address, request).await,
            Method::HEAD => {
                let JournalAddress { run, generation } = &address;
                let journal = self.server.streams.journal(run, *generation).await?;
                Ok(respond_with_info(&journal.info))
            }
            _ => {
                let appender = Appender {
                    engine: &self.engine,
                    server: &self.server,
                    address: &address,
                    caller: &request.caller.clone(),
                };
                appender.append(request).await
            }
        }
    }

    async fn read(
        &self,
        address: &JournalAddress,
        request: StreamRequest,
    ) -> Result<Response, Failure> {
        let query = Query::parse(&request.query)?;
        let view = address.view(&request.caller, &request.query)?;
        let JournalAddress { run, generation } = address;
        let render = |row: &_| views::render(view, row);
        let streams = &self.server.streams;
        let reader = streams.read_journal(run, *generation, query.from, render);
        let reading = Reading {
            reader: reader.await?,
            query,
            view: Some(view),
        };
        respond_to_read(self.server.clone(), reading, request).await
    }
}
