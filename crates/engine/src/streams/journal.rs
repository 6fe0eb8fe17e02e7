//! Journals as streams: readers see the messages that a view renders from each record.

use std::sync::Arc;

use everstep_model::{Generation, Offset, RecordNumber, RunId};
use everstep_store::{Head, RunRow};

use super::chain::Chain;
use super::content_type::ContentType;
use super::error::StreamError;
use super::found::StreamInfo;
use super::handle::Streams;
use super::read::{Content, JournalView, ReadFrom, Reader};

/// The journal of one generation of a run.
#[derive(Clone, Debug)]
pub struct Journal {
    /// The properties of the journal as a stream.
    pub info: StreamInfo,
    /// The row of the run in lists when this was its latest generation.
    pub run: Arc<RunRow>,
}

impl Journal {
    /// Returns the offset after a record.
    #[must_use]
    pub fn behind(&self, record: RecordNumber) -> Offset {
        Offset {
            term: self.info.next.term,
            next: record.plus(1),
        }
    }
}

impl Streams {
    /// Returns the journal of one generation of a run.
    pub async fn journal(
        &self,
        run: &RunId,
        generation: Generation,
    ) -> Result<Journal, StreamError> {
        let found = self.journal_head(run, generation).await;
        found.map(|(_, journal)| journal)
    }

    /// Opens a journal for reading.
    pub async fn read_journal(
        &self,
        run: &RunId,
        generation: Generation,
        from: ReadFrom,
        view: impl FnOnce(&RunRow) -> Box<dyn JournalView>,
    ) -> Result<Reader, StreamError> {
        let (head, journal) = self.journal_head(run, generation).await?;
        let content = Content::Journal(view(&journal.run));
        let mut reader = Reader::open(self, journal.info, Chain::single(&head), content, from)?;
        reader.fold_earlier_records().await?;
        Ok(reader)
    }

    /// Returns whether a run has a generation, even if a later one has superseded it.
    pub async fn has_generation(
        &self,
        run: &RunId,
        generation: Generation,
    ) -> Result<bool, StreamError> {
        let head = self.parts.node.generation(run, generation).await?;
        Ok(head.is_some())
    }

    async fn journal_head(
        &self,
        run: &RunId,
        generation: Generation,
    ) -> Result<(Head, Journal), StreamError> {
        let head = self.parts.node.generation(run, generation).await?;
        let head = head.ok_or(StreamError::Missing)?;
        let row = head.run.clone().ok_or(StreamError::Missing)?;
        let info = StreamInfo::of(&head, ContentType::new("application/json"));
        Ok((head, Journal { info, run: row }))
    }
}
