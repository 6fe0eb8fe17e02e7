//! `POST` to a journal: events and answers, each a commit of its own, in order. What a producer sends again takes effect once.

use axum::body::Body;
use axum::http::{StatusCode, header};
use axum::response::Response;
use everstep_engine::streams::{ContentType, Journal, Producer, StreamError};
use everstep_engine::{Answer, Answered, EngineError, SendEvent, Sent};
use everstep_model::{ErrorCode, Name, Payload, RecordNumber};
use everstep_protocol::access::Scope;

use super::address::JournalAddress;
use super::appended::{Appended, parse};
use super::{Asked, reserved};
use crate::auth::Caller;
use crate::failure::Failure;
use crate::router::Shared;
use crate::streams::headers as names;
use crate::streams::producer_headers::producer;
use crate::streams::reply::Reply;
use crate::streams::route::whole_body;

pub(super) async fn append(
    shared: &Shared,
    address: JournalAddress,
    asked: Asked,
) -> Result<Response<Body>, Failure> {
    let Asked {
        caller,
        headers,
        body,
        ..
    } = asked;
    let producer = producer(&headers)?;
    if names::says_true(&headers, &names::CLOSED) {
        return Err(reserved("only the engine closes journals; cancel the run"));
    }
    if headers.contains_key(names::SEQ) {
        let detail = "a journal takes no Stream-Seq; producers are told apart by their own headers";
        return Err(Failure::bad_request(detail));
    }
    let kind = names::text(&headers, &header::CONTENT_TYPE)?.unwrap_or_default();
    let journal = shared
        .streams
        .journal(&address.run, address.generation)
        .await?;
    if ContentType::new(kind) != journal.info.content_type {
        let detail = "records of a journal are `application/json`";
        return Err(Failure::new(StatusCode::CONFLICT, detail).coded(ErrorCode::StreamType));
    }
    let body = whole_body(shared, body).await?;
    let records = parse(&body)?;
    let (mut last, mut is_new) = (RecordNumber(0), false);
    for (index, record) in records.into_iter().enumerate() {
        let appending = Appending {
            shared,
            address: &address,
            caller: &caller,
            journal: &journal,
            dedup_id: producer.as_ref().map(|producer| key(producer, index)),
        };
        let appended = appending.one(record).await;
        let appended = appended.map_err(|failure| closed(failure, &journal, producer.as_ref()))?;
        is_new |= appended.is_new;
        last = last.max(appended.number);
    }
    let status = match producer.is_some() && is_new {
        true => StatusCode::OK,
        false => StatusCode::NO_CONTENT,
    };
    Ok(Reply::new(status)
        .at(journal.behind(last))
        .with_some(names::PRODUCER_EPOCH, producer.as_ref().map(|p| p.epoch))
        .with_some(names::PRODUCER_SEQ, producer.as_ref().map(|p| p.seq))
        .empty())
}

/// What stands for one record of one append of a producer.
fn key(producer: &Producer, index: usize) -> String {
    let Producer { id, epoch, seq } = producer;
    let text = Payload::from_value(&(id, epoch, seq, index));
    // Text and numbers can always be written.
    let digest = text.map(|text| text.digest()).unwrap_or_default();
    format!("producer-{digest}")
}

/// A journal that takes nothing more says so as every closed stream does. A producer is told its own sequence: the common
/// client takes a conflict without these headers for a gap at 0 and sends for ever.
fn closed(failure: Refused, journal: &Journal, producer: Option<&Producer>) -> Failure {
    let Refused { failure, closed } = failure;
    if !closed {
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

struct Refused {
    failure: Failure,
    /// Because the run is over, or this life of it.
    closed: bool,
}

impl From<Failure> for Refused {
    fn from(failure: Failure) -> Self {
        Self {
            failure,
            closed: false,
        }
    }
}

impl From<EngineError> for Refused {
    fn from(error: EngineError) -> Self {
        let closed = error.code() == ErrorCode::RunFinished;
        Self {
            failure: error.into(),
            closed,
        }
    }
}

struct Done {
    number: RecordNumber,
    is_new: bool,
}

struct Appending<'a> {
    shared: &'a Shared,
    address: &'a JournalAddress,
    caller: &'a Caller,
    journal: &'a Journal,
    /// What a producer is known by, where the record does not say.
    dedup_id: Option<String>,
}

impl Appending<'_> {
    async fn one(self, record: Appended) -> Result<Done, Refused> {
        // A later life of the run has a journal of its own.
        if self.journal.info.closed {
            let next = self.journal.info.next;
            return Err(Refused {
                failure: StreamError::Closed { next }.into(),
                closed: true,
            });
        }
        match record {
            Appended::Event {
                name,
                payload,
                dedup_id,
            } => self.event(name, payload, dedup_id).await,
            Appended::Answer {
                rpc,
                answer,
                dedup_id,
            } => {
                let answer = Answer {
                    run: self.address.run.clone(),
                    rpc,
                    answer,
                    by: self.by(),
                    dedup_id: dedup_id.or(self.dedup_id.clone()),
                    generation: Some(self.address.generation),
                };
                self.answer(answer).await
            }
        }
    }

    async fn event(
        self,
        name: String,
        payload: Payload,
        dedup_id: Option<String>,
    ) -> Result<Done, Refused> {
        let (address, caller) = (self.address, self.caller);
        if !caller.may_send(&address.run, address.generation, &name) {
            return Err(forbidden("the run token does not name this event").into());
        }
        let sent = self
            .shared
            .engine
            .send(SendEvent {
                run: address.run.clone(),
                name: Name::new(&name).map_err(EngineError::from)?,
                payload,
                dedup_id: dedup_id.or(self.dedup_id.clone()),
                by: self.by(),
                generation: Some(address.generation),
            })
            .await?;
        Ok(match sent {
            Sent::Accepted(number) => Done {
                number,
                is_new: true,
            },
            Sent::Duplicate(number) => Done {
                number,
                is_new: false,
            },
        })
    }

    async fn answer(self, answer: Answer) -> Result<Done, Refused> {
        let (address, caller) = (self.address, self.caller);
        if caller.has(Scope::Send) {
            return self.answered(answer).await;
        }
        let open = self.shared.engine.open_rpc(&answer.run, &answer.rpc).await;
        let method = open?.method;
        match caller.may_answer(&address.run, address.generation, method.as_str()) {
            true => self.answered(answer).await,
            false => Err(forbidden("the run token does not name this method").into()),
        }
    }

    async fn answered(self, answer: Answer) -> Result<Done, Refused> {
        Ok(match self.shared.engine.answer(answer).await? {
            Answered::Accepted(number) => Done {
                number,
                is_new: true,
            },
            Answered::Duplicate(number) => Done {
                number,
                is_new: false,
            },
        })
    }

    fn by(&self) -> Option<String> {
        self.caller.name().map(str::to_owned)
    }
}

fn forbidden(why: &str) -> Failure {
    Failure::new(StatusCode::FORBIDDEN, why).coded(ErrorCode::Forbidden)
}
