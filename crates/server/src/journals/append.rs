//! `POST` to a journal appends events and answers, each in a commit of its own, in order. If one is
//! rejected, the response says how many were taken before it. What a producer sends again takes
//! effect once.

use axum::http::{StatusCode, header};
use axum::response::Response;
use everstep_engine::streams::{ContentType, Journal, Producer, StreamError};
use everstep_engine::{Answer, Answered, Engine, SendEvent, Sent};
use everstep_model::{ErrorCode, Name, Payload, RecordNumber};
use everstep_protocol::access::Scope;

use super::address::{JournalAddress, reserved};
use super::appended::{Appended, AppendedAnswer, AppendedEvent, parse};
use crate::auth::Caller;
use crate::failure::Failure;
use crate::stream_protocol as names;
use crate::streams::headers::{is_true, producer, text};
use crate::streams::reply::Reply;
use crate::streams::{StreamRequest, StreamServer};

/// Appends to one journal for one caller.
pub(super) struct Appender<'a> {
    pub(super) engine: &'a Engine,
    pub(super) server: &'a StreamServer,
    pub(super) address: &'a JournalAddress,
    pub(super) caller: &'a Caller,
    /// The name under which the journal records the appends.
    pub(super) by: Option<String>,
}

/// The number of an appended record, and whether it is new.
type AppendedRecord = (RecordNumber, bool);

impl Appender<'_> {
    pub(super) async fn append(&self, request: StreamRequest) -> Result<Response, Failure> {
        let headers = request.headers;
        let producer = producer(&headers)?;
        if is_true(&headers, &names::CLOSED) {
            return Err(reserved("only the engine closes journals; cancel the run"));
        }
        if headers.contains_key(names::SEQ) {
            let detail = "a journal accepts no Stream-Seq; use the producer headers";
            return Err(Failure::bad_request(detail));
        }
        let content_type = text(&headers, &header::CONTENT_TYPE)?.unwrap_or_default();
        let JournalAddress { run, generation } = self.address;
        let journal = self.server.streams.journal(run, *generation).await?;
        if ContentType::new(content_type) != journal.info.content_type {
            let detail = "records of a journal are `application/json`";
            return Err(Failure::conflict(ErrorCode::StreamType, detail));
        }
        let records = parse(&self.server.body_limits.read(request.body).await?)?;
        let is_one = records.len() == 1;
        let (mut last, mut is_new) = (RecordNumber(0), false);
        for (index, record) in records.into_iter().enumerate() {
            let dedup_id = producer.as_ref().map(|producer| dedup_id(producer, index));
            let appended = self.record(&journal, record, dedup_id).await;
            let (number, is_first) = appended.map_err(|failure| {
                let failure = with_end(failure, &journal, producer.as_ref());
                match is_one {
                    true => failure,
                    false => failure.after_appending(index),
                }
            })?;
            is_new |= is_first;
            last = last.max(number);
        }
        let status = match producer.is_some() && is_new {
            true => StatusCode::OK,
            false => StatusCode::NO_CONTENT,
        };
        let (epoch, seq) = producer
            .map(|producer| (producer.epoch, producer.seq))
            .unzip();
        Ok(Reply::new(status)
            .at(journal.behind(last))
            .with_some(names::PRODUCER_EPOCH, epoch)
            .with_some(names::PRODUCER_SEQ, seq)
            .empty())
    }

    /// Appends one record. `producer_id` deduplicates it unless the record has an id of its own.
    async fn record(
        &self,
        journal: &Journal,
        record: Appended,
        producer_id: Option<String>,
    ) -> Result<AppendedRecord, Failure> {
        // A later generation of the run has a journal of its own.
        if journal.info.closed {
            let next = journal.info.next;
            return Err(StreamError::Closed { next }.into());
        }
        match record {
            Appended::Event(event) => self.send_event(event, producer_id).await,
            Appended::Answer(answer) => self.send_answer(answer, producer_id).await,
        }
    }

    async fn send_event(
        &self,
        event: AppendedEvent,
        producer_id: Option<String>,
    ) -> Result<AppendedRecord, Failure> {
        let JournalAddress { run, generation } = self.address;
        if !self.caller.may_send(run, *generation, &event.name) {
            return Err(Failure::forbidden("the run token does not name this event"));
        }
        let event = SendEvent {
            run: run.clone(),
            name: Name::new(&event.name)?,
            payload: event.payload,
            dedup_id: event.dedup_id.or(producer_id),
            by: self.by.clone(),
            generation: Some(*generation),
        };
        Ok(match self.engine.send(event).await? {
            Sent::Accepted(number) => (number, true),
            Sent::Duplicate(number) => (number, false),
        })
    }

    async fn send_answer(
        &self,
        answer: AppendedAnswer,
        producer_id: Option<String>,
    ) -> Result<AppendedRecord, Failure> {
        let JournalAddress { run, generation } = self.address;
        if !self.caller.has(Scope::Send) {
            let open = self.engine.open_rpc(run, &answer.rpc_id).await?;
            if !self
                .caller
                .may_answer(run, *generation, open.method.as_str())
            {
                let detail = "the run token does not name this method";
                return Err(Failure::forbidden(detail));
            }
        }
        let answer = Answer {
            run: run.clone(),
            rpc: answer.rpc_id,
            answer: answer.answer,
            dedup_id: answer.dedup_id.or(producer_id),
            by: self.by.clone(),
            generation: Some(*generation),
        };
        Ok(match self.engine.answer(answer).await? {
            Answered::Accepted(number) => (number, true),
            Answered::Duplicate(number) => (number, false),
        })
    }
}

/// Returns the deduplication id of one record of a producer's append.
fn dedup_id(producer: &Producer, index: usize) -> String {
    let Producer { id, epoch, seq } = producer;
    let text = Payload::from_value(&(id, epoch, seq, index));
    // Text and numbers always serialize.
    let digest = text.map(|text| text.digest()).unwrap_or_default();
    format!("producer-{digest}")
}

/// Adds the headers of a closed stream to the error of a run, or a generation of it, that has
/// ended. A producer also receives its own sequence: the reference client interprets a conflict
/// without these headers as a gap at 0 and retries forever.
fn with_end(failure: Failure, journal: &Journal, producer: Option<&Producer>) -> Failure {
    let ended = [ErrorCode::RunFinished, ErrorCode::StreamClosed];
    if failure.code().is_none_or(|code| !ended.contains(&code)) {
        return failure;
    }
    let failure = failure
        .with(names::CLOSED, "true")
        .with(names::NEXT_OFFSET, journal.info.next);
    match producer {
        Some(producer) => failure
            .with(names::PRODUCER_EXPECTED, producer.seq)
            .with(names::PRODUCER_RECEIVED, producer.seq),
        None => failure,
    }
}
