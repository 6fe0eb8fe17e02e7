//! Decides which streams of a salvaged store are complete, and takes out the others.
//!
//! The records of an incomplete stream that can be read are written to a file, one line of JSON per
//! record, as `everstep export` does. A run that continued without some of its records could repeat
//! what it has done.

use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::io::{BufWriter, Write};
use std::path::Path;

use everstep_model::{
    DecodeError, Entry, Generation, Interner, RecordNumber, RunId, StreamName, StreamNumber, Term,
    entry_to_json,
};
use everstep_store::{GenerationRow, Head, Row, RowKey, StoreError};
use fjall::{OwnedWriteBatch, Readable};

use crate::directory::permissions;
use crate::encoding::holes::Holes;
use crate::encoding::stored_frame::StoredFrame;
use crate::encoding::{keys, values};
use crate::failure;
use crate::salvage::files::Findings;
use crate::salvage::report::{LostStream, SalvageReport};
use crate::storage::tables::{Tables, put};
use crate::storage::view::View;
use crate::upgrade;

/// The number of rows in one write batch, which bounds memory.
const BATCH: usize = 1_000;
/// The characters of a name that are used for a file. Each becomes up to seven bytes.
const FILE_CHARS_MAX: usize = 35;
const ALL: std::ops::RangeInclusive<RecordNumber> = RecordNumber(0)..=RecordNumber(u64::MAX);

/// Takes incomplete streams out of the tables, and repairs what refers to streams by number.
pub(super) fn settle(
    tables: &Tables,
    findings: &Findings,
    folder: &Path,
) -> Result<SalvageReport, StoreError> {
    let mut settling = Settling {
        view: View::new(tables),
        rows: upgrade::batch(tables),
        folder,
        report: SalvageReport::default(),
        is_intact: findings.damage.is_empty(),
        lost: BTreeSet::new(),
        generations: BTreeMap::new(),
        highest: (StreamNumber(0), Term(0)),
    };
    let names = settling.names()?;
    for number in settling.streams()? {
        settling.settle(number, &names, findings)?;
    }
    settling.remove_timers()?;
    if !settling.is_intact {
        settling.list_latest_generations()?;
        settling.reserve_numbers()?;
    }
    settling.flush()?;
    Ok(settling.report)
}

struct Settling<'a> {
    view: View<'a>,
    rows: OwnedWriteBatch,
    folder: &'a Path,
    report: SalvageReport,
    /// Whether nothing is damaged.
    is_intact: bool,
    lost: BTreeSet<StreamNumber>,
    /// The generations that are left of each run that had several, in the order of their creation.
    generations: BTreeMap<RunId, Vec<Head>>,
    /// The highest number and term of a stream.
    highest: (StreamNumber, Term),
}

impl Settling<'_> {
    fn flush(&mut self) -> Result<(), StoreError> {
        let tables = self.view.tables;
        let rows = std::mem::replace(&mut self.rows, upgrade::batch(tables));
        tables.check(rows.commit())
    }

    fn put_lookup(&mut self, key: Vec<u8>, value: Option<Vec<u8>>) -> Result<(), StoreError> {
        put(&mut self.rows, &self.view.tables.lookups, key, value);
        match self.rows.len() >= BATCH {
            true => self.flush(),
            false => Ok(()),
        }
    }

    /// Returns the names of streams.
    fn names(&self) -> Result<HashMap<StreamNumber, String>, StoreError> {
        let prefix = keys::name("");
        let tables = self.view.tables;
        let mut names = HashMap::new();
        for row in self.view.snapshot.prefix(&tables.lookups, &prefix) {
            let (key, value) = tables.check(row.into_inner())?;
            let name = key.get(prefix.len()..).map(String::from_utf8_lossy);
            if let (Some(name), Ok(number)) = (name, values::decode_number(&value)) {
                names.insert(StreamNumber(number), name.into_owned());
            }
        }
        Ok(names)
    }

    /// Returns all streams of which anything is left.
    fn streams(&self) -> Result<BTreeSet<StreamNumber>, StoreError> {
        let tables = self.view.tables;
        let mut streams = BTreeSet::new();
        for row in self.view.snapshot.iter(&tables.heads) {
            streams.extend(keys::stream_of_head(&tables.check(row.key())?).ok());
        }
        let mut from = StreamNumber(0);
        loop {
            let begin = keys::frame(from, RecordNumber(0));
            let mut rest = self.view.snapshot.range(&tables.journal, begin..);
            let Some(row) = rest.next() else {
                return Ok(streams);
            };
            let Ok(number) = keys::stream_of_frame(&tables.check(row.key())?) else {
                return Ok(streams);
            };
            streams.insert(number);
            from = number.next();
        }
    }

    fn settle(
        &mut self,
        number: StreamNumber,
        names: &HashMap<StreamNumber, String>,
        findings: &Findings,
    ) -> Result<(), StoreError> {
        let head = readable(self.view.head_row(number))?.flatten();
        let (has_ended, detail) = self.records(number, head.as_ref())?;
        self.highest.0 = self.highest.0.max(number);
        let name = head.as_ref().map(|head| head.name.as_str().to_owned());
        let name = name.or_else(|| names.get(&number).cloned());
        let name = name.unwrap_or_else(|| format!("stream {number}"));
        let (Some(head), None) = (head, &detail) else {
            let detail = detail.unwrap_or_else(|| "its head is missing".to_owned());
            return self.lose(number, name, detail);
        };
        self.highest.1 = self.highest.1.max(head.term);
        self.report.streams += 1;
        if findings.cut.contains(&number) && !(head.closed && has_ended) {
            self.report.cut.push(name);
        }
        // The name is also in the head.
        let value = values::encode_number(number.0);
        self.put_lookup(keys::name(head.name.as_str()), Some(value))?;
        if let Some(run) = &head.run
            && (head.superseded || run.generation > Generation::FIRST)
        {
            let run = run.id.clone();
            self.generations.entry(run).or_default().push(head);
        }
        Ok(())
    }

    /// Returns whether the last record ends a run, and what is missing of the stream.
    fn records(
        &self,
        number: StreamNumber,
        head: Option<&Head>,
    ) -> Result<(bool, Option<String>), StoreError> {
        if self.is_intact {
            return Ok((false, None));
        }
        let holes = readable(self.view.holes(number))?;
        let mut missing = holes.is_none().then(|| "its gaps are unknown".to_owned());
        let holes: Holes = holes.unwrap_or_default();
        let row = readable(self.view.row(&RowKey::Stream(number)))?.flatten();
        let begin = match row {
            Some(Row::Stream(row)) => row.forked_from.map_or(RecordNumber(0), |fork| fork.at),
            _ => RecordNumber(0),
        };
        let mut next = holes.past(begin);
        let mut has_ended = false;
        for frame in self.view.frames(number, ALL) {
            let Some(frame) = readable(frame)? else {
                continue;
            };
            if frame.first != next {
                let found = frame.first;
                missing.get_or_insert_with(|| format!("the records {next} to {found} are missing"));
            }
            let entries = entries_of(&frame).unwrap_or_else(|error| {
                missing.get_or_insert_with(|| error.to_string());
                Vec::new()
            });
            let last = entries.last();
            has_ended = last.is_some_and(|last| last.record.body.terminal().is_some());
            next = holes.past(last.map_or(frame.first, |last| last.number.plus(1)));
        }
        if let Some(end) = head.map(|head| head.next).filter(|end| next < *end) {
            missing.get_or_insert_with(|| format!("the records {next} to {end} are missing"));
        }
        Ok((has_ended, missing))
    }

    fn lose(
        &mut self,
        number: StreamNumber,
        name: String,
        detail: String,
    ) -> Result<(), StoreError> {
        let records = self.export(number, &name)?;
        let tables = self.view.tables;
        put(&mut self.rows, &tables.heads, keys::stream(number), None);
        for row in self
            .view
            .snapshot
            .prefix(&tables.journal, keys::stream(number))
        {
            let key = tables.check(row.key())?;
            put(&mut self.rows, &tables.journal, key, None);
        }
        for prefix in keys::rows_of_stream(number) {
            for key in self.view.lookup_keys(&prefix)? {
                self.put_lookup(key, None)?;
            }
        }
        self.put_lookup(keys::name(&name), None)?;
        self.lost.insert(number);
        self.report.lost.push(LostStream {
            name,
            detail,
            records,
        });
        Ok(())
    }

    /// Writes the readable records of a stream to a file. Returns their number.
    fn export(&self, number: StreamNumber, name: &str) -> Result<u64, StoreError> {
        let path = self.folder.join(file_of(number, name));
        let place = path.display().to_string();
        let failed = failure::of_io(&place);
        let (mut file, mut records) = (None, 0);
        for frame in self.view.frames(number, ALL) {
            let frame = readable(frame)?;
            for entry in frame
                .and_then(|frame| entries_of(&frame).ok())
                .unwrap_or_default()
            {
                let line = entry_to_json(&entry);
                let line = line.map_err(|error| StoreError::corrupt(&place, error.to_string()))?;
                let file = match &mut file {
                    Some(file) => file,
                    empty => {
                        let created = permissions::create_folder(self.folder)
                            .and_then(|()| permissions::open_file(&path, true));
                        empty.insert(BufWriter::new(created.map_err(&failed)?))
                    }
                };
                writeln!(file, "{line}").map_err(&failed)?;
                records += 1;
            }
        }
        file.map_or(Ok(()), |mut file| file.flush())
            .map_err(&failed)?;
        Ok(records)
    }

    /// Removes the timers of lost streams.
    fn remove_timers(&mut self) -> Result<(), StoreError> {
        let tables = self.view.tables;
        for row in self.view.snapshot.iter(&tables.timers) {
            let (key, value) = tables.check(row.into_inner())?;
            let timer = keys::timer_row(&key, &value);
            if timer.is_ok_and(|timer| self.lost.contains(&timer.stream)) {
                put(&mut self.rows, &tables.timers, key, None);
            }
        }
        self.flush()
    }

    /// Makes the highest generation that is left the latest one of its run.
    fn list_latest_generations(&mut self) -> Result<(), StoreError> {
        let prefix = keys::all_generations();
        for key in self.view.lookup_keys(&prefix)? {
            self.put_lookup(key, None)?;
        }
        self.flush()?;
        for (id, mut heads) in std::mem::take(&mut self.generations) {
            let first = StreamName::of_run(&id, Generation::FIRST);
            if heads.iter().all(|head| head.name != first) {
                // The later ones are found through the first one.
                for head in heads {
                    let (name, detail) = (
                        head.name.as_str(),
                        "the first generation of its run is lost",
                    );
                    self.report.streams = self.report.streams.saturating_sub(1);
                    self.lose(head.number, name.to_owned(), detail.to_owned())?;
                }
                continue;
            }
            let Some(mut head) = heads.pop() else {
                continue;
            };
            head.superseded = false;
            let key = keys::stream(head.number);
            let value = values::encode_head(&head);
            put(&mut self.rows, &self.view.tables.heads, key, Some(value));
            let generation = head
                .run
                .as_ref()
                .map_or(Generation::FIRST, |run| run.generation);
            if generation > Generation::FIRST {
                let row = Row::Generation(GenerationRow {
                    run: id,
                    generation,
                    stream: head.number,
                });
                if let Some(key) = keys::lookup(&row.key()) {
                    self.put_lookup(key, Some(values::encode_row(&row)))?;
                }
            }
        }
        self.flush()
    }

    /// Keeps the numbers and terms of lost streams from being used again.
    fn reserve_numbers(&mut self) -> Result<(), StoreError> {
        let what = "the numbers of removed streams";
        let removed = readable(
            self.view
                .lookup(&keys::REMOVED, what, values::decode_removed),
        )?;
        let (number, term) = removed.flatten().unwrap_or((StreamNumber(1), Term(0)));
        let number = number.max(self.highest.0.next());
        let term = term.max(Term(self.highest.1.0.saturating_add(1)));
        let value = values::encode_removed(number, term);
        self.put_lookup(keys::REMOVED.to_vec(), Some(value))
    }
}

fn entries_of(frame: &StoredFrame) -> Result<Vec<Entry>, DecodeError> {
    let mut entries = Vec::new();
    let everything = RecordNumber(0)..RecordNumber(u64::MAX);
    frame.entries(everything, &mut Interner::default(), &mut entries)?;
    Ok(entries)
}

/// Returns a name for the file of a stream.
fn file_of(number: StreamNumber, name: &str) -> String {
    let mut file = format!("{number}-");
    for character in name.chars().take(FILE_CHARS_MAX) {
        match character {
            'a'..='z' | 'A'..='Z' | '0'..='9' | '-' | '_' | '@' => file.push(character),
            other => file.push_str(&format!("%{:x}", u32::from(other))),
        }
    }
    file + ".jsonl"
}

/// Returns `None` instead of damage.
fn readable<T>(read: Result<T, StoreError>) -> Result<Option<T>, StoreError> {
    match read {
        Err(error) if error.is_damage() => Ok(None),
        read => read.map(Some),
    }
}
