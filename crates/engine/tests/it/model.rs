//! A simple model of all streams: every stream is a list of messages, and a fork a copy of its beginning.

use std::collections::BTreeMap;

use everstep_engine::streams::StreamError;

/// What a request becomes, without its details.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Fate {
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

impl Fate {
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
            other => panic!("the model knows no {other:?}"),
        }
    }
}

#[derive(Clone, Debug, Default)]
pub(crate) struct Stream {
    pub(crate) json: bool,
    /// Each message, and whether its append ends with it.
    pub(crate) messages: Vec<(String, bool)>,
    pub(crate) closed: bool,
    closer: Option<(u8, u64, u64)>,
    producers: BTreeMap<u8, (u64, u64)>,
    last_seq: Option<u8>,
    /// Source, place and sub-offset that were asked for.
    origin: Option<(usize, u8, usize, u64)>,
    /// Where parts of other streams end.
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

/// All streams there ever were, and which is at which path.
#[derive(Debug, Default)]
pub(crate) struct Model {
    pub(crate) streams: Vec<Stream>,
    pub(crate) paths: BTreeMap<u8, usize>,
}

impl Model {
    pub(crate) fn at(&self, path: u8) -> Result<usize, Fate> {
        let id = *self.paths.get(&path).ok_or(Fate::Missing)?;
        match self.streams[id].deleted {
            true => Err(Fate::Gone),
            false => Ok(id),
        }
    }

    fn add(&mut self, path: u8, stream: Stream) -> Fate {
        self.paths.insert(path, self.streams.len());
        self.streams.push(stream);
        Fate::Done
    }

    pub(crate) fn create(
        &mut self,
        path: u8,
        json: bool,
        closed: bool,
        messages: Vec<String>,
    ) -> Fate {
        match self.at(path) {
            Ok(id) => {
                let is = &self.streams[id];
                let same = is.json == json && is.closed == closed && is.origin.is_none();
                if same { Fate::Again } else { Fate::Exists }
            }
            Err(Fate::Gone) => Fate::Exists,
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

    pub(crate) fn fork(&mut self, path: u8, source: u8, place: usize, sub: u64) -> Fate {
        match self.at(path) {
            Ok(id) => {
                let is = &self.streams[id];
                let origin = is.origin.map(|(_, path, place, sub)| (path, place, sub));
                let same = origin == Some((source, place, sub)) && !is.closed;
                return if same { Fate::Again } else { Fate::Exists };
            }
            Err(Fate::Gone) => return Fate::Exists,
            Err(_) => {}
        }
        let id = match self.at(source) {
            Ok(id) => id,
            Err(Fate::Gone) => return Fate::SourceGone,
            Err(_) => return Fate::SourceMissing,
        };
        let from = &self.streams[id];
        let Some((at, prefix)) = from.behind(place, sub) else {
            return Fate::ForkPoint;
        };
        let mut messages = from.messages[..at].to_vec();
        messages.extend(prefix.map(|prefix| (prefix, true)));
        let mut cuts: Vec<usize> = from.cuts.iter().copied().filter(|cut| *cut < at).collect();
        cuts.push(at);
        let stream = Stream {
            json: from.json,
            messages,
            origin: Some((id, source, place, sub)),
            cuts,
            ..Stream::default()
        };
        self.streams[id].forks += 1;
        self.add(path, stream)
    }

    pub(crate) fn append(&mut self, path: u8, plan: &AppendPlan) -> Fate {
        let stream = match self.at(path) {
            Ok(id) => &mut self.streams[id],
            Err(fate) => return fate,
        };
        if stream.closed {
            let repeats = plan.producer.is_some() && plan.producer == stream.closer;
            let closes = plan.producer.is_none() && plan.close && plan.messages.is_empty();
            return if repeats || closes {
                Fate::Again
            } else {
                Fate::Closed
            };
        }
        if !plan.messages.is_empty() && plan.json != stream.json {
            return Fate::ContentType;
        }
        if let Some((id, epoch, seq)) = plan.producer {
            match stream.producers.get(&id) {
                None if seq != 0 => return Fate::Gap,
                Some((known, _)) if epoch < *known => return Fate::Stale,
                Some((known, _)) if epoch > *known && seq != 0 => return Fate::EpochStart,
                Some((known, last)) if epoch == *known && seq <= *last => return Fate::Again,
                Some((known, last)) if epoch == *known && seq > last + 1 => return Fate::Gap,
                _ => {}
            }
        }
        if plan.seq.is_some() && plan.seq <= stream.last_seq {
            return Fate::Seq;
        }
        if let Some((id, epoch, seq)) = plan.producer {
            stream.producers.insert(id, (epoch, seq));
        }
        stream.last_seq = plan.seq.or(stream.last_seq);
        stream.messages.extend(as_append(plan.messages.clone()));
        stream.closed = plan.close;
        stream.closer = plan.producer.filter(|_| plan.close);
        Fate::Done
    }

    pub(crate) fn delete(&mut self, path: u8) -> Fate {
        let mut id = match self.at(path) {
            Ok(id) => id,
            Err(fate) => return fate,
        };
        if self.streams[id].forks > 0 {
            self.streams[id].deleted = true;
            return Fate::Done;
        }
        loop {
            self.paths.retain(|_, at| *at != id);
            let Some((source, ..)) = self.streams[id].origin else {
                return Fate::Done;
            };
            self.streams[source].forks -= 1;
            if !self.streams[source].deleted || self.streams[source].forks > 0 {
                return Fate::Done;
            }
            id = source;
        }
    }
}

impl Stream {
    /// The fork point behind a place, and the part of a message before it.
    fn behind(&self, place: usize, sub: u64) -> Option<(usize, Option<String>)> {
        let sub = usize::try_from(sub).ok()?;
        if sub == 0 {
            return Some((place, None));
        }
        if !self.json {
            let (message, _) = self.messages.get(place)?;
            return match sub.cmp(&message.len()) {
                std::cmp::Ordering::Less => Some((place, Some(message[..sub].to_owned()))),
                std::cmp::Ordering::Equal => Some((place + 1, None)),
                std::cmp::Ordering::Greater => None,
            };
        }
        let mut rest = 0;
        for (n, (_, ends)) in self.messages.iter().enumerate().skip(place) {
            if n > place && self.cuts.contains(&n) {
                break;
            }
            rest += 1;
            if *ends {
                break;
            }
        }
        (sub <= rest).then_some((place + sub, None))
    }
}

fn as_append(messages: Vec<String>) -> Vec<(String, bool)> {
    let last = messages.len().saturating_sub(1);
    let messages = messages.into_iter().enumerate();
    messages.map(|(n, message)| (message, n == last)).collect()
}
