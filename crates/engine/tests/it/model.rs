//! A simple model of streams: every stream is a list of messages, and a fork copies the beginning
//! of its source.

use std::collections::BTreeMap;

use everstep_engine::streams::StreamError;

/// The outcome of a request, without details.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Verdict {
    Done,
    Again,
    Missing,
    Gone,
    Exists,
    Closed,
    ContentType,
    Stale,
    Gap,
    EpochStart,
    Seq,
    ForkPoint,
    SourceMissing,
    SourceGone,
}

impl Verdict {
    pub(crate) fn of(error: &StreamError) -> Self {
        match error {
            StreamError::Missing => Self::Missing,
            StreamError::Gone => Self::Gone,
            StreamError::Exists(_) => Self::Exists,
            StreamError::Closed { .. } => Self::Closed,
            StreamError::ContentType { .. } => Self::ContentType,
            StreamError::StaleEpoch { .. } => Self::Stale,
            StreamError::SequenceGap { .. } => Self::Gap,
            StreamError::EpochBeginsAtZero => Self::EpochStart,
            StreamError::SeqNotHigher { .. } => Self::Seq,
            StreamError::ForkPoint(_) => Self::ForkPoint,
            StreamError::SourceMissing => Self::SourceMissing,
            StreamError::SourceGone => Self::SourceGone,
            other => panic!("unexpected error {other:?}"),
        }
    }
}

#[derive(Clone, Debug, Default)]
pub(crate) struct Stream {
    pub(crate) json: bool,
    /// The messages, and whether each is the last of its append.
    pub(crate) messages: Vec<(String, bool)>,
    pub(crate) closed: bool,
    closer: Option<(u8, u64, u64)>,
    producers: BTreeMap<u8, (u64, u64)>,
    last_seq: Option<u8>,
    /// The requested source, offset and sub-offset.
    origin: Option<(usize, u8, usize, u64)>,
    /// The ends of the parts that are inherited from other streams.
    cuts: Vec<usize>,
    forks: usize,
    deleted: bool,
}

pub(crate) struct AppendPlan {
    pub(crate) messages: Vec<String>,
    pub(crate) json: bool,
    pub(crate) close: bool,
    pub(crate) producer: Option<(u8, u64, u64)>,
    pub(crate) seq: Option<u8>,
}

/// All streams that ever existed, and the current one of each path.
#[derive(Debug, Default)]
pub(crate) struct Model {
    pub(crate) streams: Vec<Stream>,
    pub(crate) paths: BTreeMap<u8, usize>,
}

impl Model {
    pub(crate) fn at(&self, path: u8) -> Result<usize, Verdict> {
        let id = *self.paths.get(&path).ok_or(Verdict::Missing)?;
        match self.streams[id].deleted {
            true => Err(Verdict::Gone),
            false => Ok(id),
        }
    }

    fn add(&mut self, path: u8, stream: Stream) -> Verdict {
        self.paths.insert(path, self.streams.len());
        self.streams.push(stream);
        Verdict::Done
    }

    pub(crate) fn create(
        &mut self,
        path: u8,
        json: bool,
        closed: bool,
        messages: Vec<String>,
    ) -> Verdict {
        match self.at(path) {
            Ok(id) => {
                let existing = &self.streams[id];
                let same =
                    existing.json == json && existing.closed == closed && existing.origin.is_none();
                if same {
                    Verdict::Again
                } else {
                    Verdict::Exists
                }
            }
            Err(Verdict::Gone) => Verdict::Exists,
            Err(_) => {
                let stream = Stream {
                    json,
                    closed,
                    messages: as_append(messages),
                    ..Stream::default()
                };
                self.add(path, stream)
            }
        }
    }

    pub(crate) fn fork(&mut self, path: u8, source: u8, index: usize, sub: u64) -> Verdict {
        match self.at(path) {
            Ok(id) => {
                let existing = &self.streams[id];
                let origin = existing
                    .origin
                    .map(|(_, path, index, sub)| (path, index, sub));
                let same = origin == Some((source, index, sub)) && !existing.closed;
                return if same {
                    Verdict::Again
                } else {
                    Verdict::Exists
                };
            }
            Err(Verdict::Gone) => return Verdict::Exists,
            Err(_) => {}
        }
        let id = match self.at(source) {
            Ok(id) => id,
            Err(Verdict::Gone) => return Verdict::SourceGone,
            Err(_) => return Verdict::SourceMissing,
        };
        let from = &self.streams[id];
        let Some((at, prefix)) = from.fork_point(index, sub) else {
            return Verdict::ForkPoint;
        };
        let mut messages = from.messages[..at].to_vec();
        messages.extend(prefix.map(|prefix| (prefix, true)));
        let mut cuts: Vec<usize> = from.cuts.iter().copied().filter(|cut| *cut < at).collect();
        cuts.push(at);
        let stream = Stream {
            json: from.json,
            messages,
            origin: Some((id, source, index, sub)),
            cuts,
            ..Stream::default()
        };
        self.streams[id].forks += 1;
        self.add(path, stream)
    }

    pub(crate) fn append(&mut self, path: u8, plan: &AppendPlan) -> Verdict {
        let stream = match self.at(path) {
            Ok(id) => &mut self.streams[id],
            Err(verdict) => return verdict,
        };
        if stream.closed {
            let repeats = plan.producer.is_some() && plan.producer == stream.closer;
            let closes = plan.producer.is_none() && plan.close && plan.messages.is_empty();
            return if repeats || closes {
                Verdict::Again
            } else {
                Verdict::Closed
            };
        }
        if !plan.messages.is_empty() && plan.json != stream.json {
            return Verdict::ContentType;
        }
        if let Some((id, epoch, seq)) = plan.producer {
            match stream.producers.get(&id) {
                None if seq != 0 => return Verdict::Gap,
                Some((known, _)) if epoch < *known => return Verdict::Stale,
                Some((known, _)) if epoch > *known && seq != 0 => return Verdict::EpochStart,
                Some((known, last)) if epoch == *known && seq <= *last => return Verdict::Again,
                Some((known, last)) if epoch == *known && seq > last + 1 => return Verdict::Gap,
                _ => {}
            }
        }
        if plan.seq.is_some() && plan.seq <= stream.last_seq {
            return Verdict::Seq;
        }
        if let Some((id, epoch, seq)) = plan.producer {
            stream.producers.insert(id, (epoch, seq));
        }
        stream.last_seq = plan.seq.or(stream.last_seq);
        stream.messages.extend(as_append(plan.messages.clone()));
        stream.closed = plan.close;
        stream.closer = plan.producer.filter(|_| plan.close);
        Verdict::Done
    }

    pub(crate) fn delete(&mut self, path: u8) -> Verdict {
        let mut id = match self.at(path) {
            Ok(id) => id,
            Err(verdict) => return verdict,
        };
        if self.streams[id].forks > 0 {
            self.streams[id].deleted = true;
            return Verdict::Done;
        }
        loop {
            self.paths.retain(|_, at| *at != id);
            let Some((source, ..)) = self.streams[id].origin else {
                return Verdict::Done;
            };
            self.streams[source].forks -= 1;
            if !self.streams[source].deleted || self.streams[source].forks > 0 {
                return Verdict::Done;
            }
            id = source;
        }
    }
}

impl Stream {
    /// The fork point after an offset, and the part of a message before it.
    fn fork_point(&self, index: usize, sub: u64) -> Option<(usize, Option<String>)> {
        let sub = usize::try_from(sub).ok()?;
        if sub == 0 {
            return Some((index, None));
        }
        if !self.json {
            let (message, _) = self.messages.get(index)?;
            return match sub.cmp(&message.len()) {
                std::cmp::Ordering::Less => Some((index, Some(message[..sub].to_owned()))),
                std::cmp::Ordering::Equal => Some((index + 1, None)),
                std::cmp::Ordering::Greater => None,
            };
        }
        let mut rest = 0;
        for (n, (_, ends)) in self.messages.iter().enumerate().skip(index) {
            if n > index && self.cuts.contains(&n) {
                break;
            }
            rest += 1;
            if *ends {
                break;
            }
        }
        (sub <= rest).then_some((index + sub, None))
    }
}

fn as_append(messages: Vec<String>) -> Vec<(String, bool)> {
    let last = messages.len().saturating_sub(1);
    let messages = messages.into_iter().enumerate();
    messages.map(|(n, message)| (message, n == last)).collect()
}
