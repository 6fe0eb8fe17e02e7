//! Dispatches requests about journals by method, and handles reads.

use std::sync::Arc;

use axum::http::Method;
use axum::response::Response;
use everstep_engine::Engine;

use super::address::{JournalAddress, reserved};
use super::append::Appender;
use super::views;
use crate::actor::actor;
use crate::failure::Failure;
use crate::stream_protocol as names;
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
                let response = respond_with_info(&journal.info);
                self.with_next_generation(&address, response).await
            }
            _ => {
                let appender = Appender {
                    engine: &self.engine,
                    server: &self.server,
                    address: &address,
                    caller: &request.caller.clone(),
                    by: actor(&request.caller, &request.headers),
                };
                appender.append(request).await
            }
        }
    }

    /// Names the next generation of the run, if it has one.
    async fn with_next_generation(
        &self,
        address: &JournalAddress,
        mut response: Response,
    ) -> Result<Response, Failure> {
        let next = address.generation.next();
        let streams = &self.server.streams;
        if streams.has_generation(&address.run, next).await? {
            let headers = response.headers_mut();
            headers.insert(names::NEXT_GENERATION, next.0.into());
        }
        Ok(response)
    }

    async fn read(
        &self,
        address: &JournalAddress,
        request: StreamRequest,
    ) -> Result<Response, Failure> {
        let query = Query::parse(&request.query)?;
        let audience = address.audience(&request.caller, &request.query)?;
        let JournalAddress { run, generation } = address;
        let view = |row: &_| views::of(&audience, row);
        let streams = &self.server.streams;
        let reader = streams.read_journal(run, *generation, query.from, view);
        let reading = Reading {
            reader: reader.await?,
            query,
            view: Some(audience.tag()),
        };
        let response = respond_to_read(self.server.clone(), reading, request).await?;
        self.with_next_generation(address, response).await
    }
}
