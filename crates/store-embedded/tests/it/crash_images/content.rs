//! The bytes of a file by sectors of 512 bytes, which a disk writes atomically. Sparse, because
//! journals are mostly holes.

use std::collections::BTreeMap;
use std::fs::File;
use std::os::unix::fs::FileExt;
use std::path::Path;

pub(super) const SECTOR: u64 = 512;

#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Content {
    pub(super) length: u64,
    sectors: BTreeMap<u64, [u8; SECTOR as usize]>,
}

/// The part of a write within one sector.
#[derive(Clone, Copy, Debug)]
pub(super) struct Piece<'a> {
    pub(super) sector: u64,
    within: usize,
    bytes: &'a [u8],
}

/// Splits a write at the boundaries of sectors.
pub(super) fn pieces(at: u64, mut bytes: &[u8]) -> Vec<Piece<'_>> {
    let mut pieces = Vec::new();
    let mut at = at;
    while !bytes.is_empty() {
        let within = (at % SECTOR) as usize;
        let length = bytes.len().min(SECTOR as usize - within);
        let (piece, rest) = bytes.split_at(length);
        pieces.push(Piece {
            sector: at / SECTOR,
            within,
            bytes: piece,
        });
        at += length as u64;
        bytes = rest;
    }
    pieces
}

impl Content {
    pub(super) fn put(&mut self, piece: Piece<'_>) {
        let sector = self.sectors.entry(piece.sector);
        let sector = sector.or_insert([0; SECTOR as usize]);
        let end = piece.within + piece.bytes.len();
        sector[piece.within..end].copy_from_slice(piece.bytes);
        self.length = self.length.max(piece.sector * SECTOR + end as u64);
    }

    pub(super) fn truncate(&mut self, length: u64) {
        if length < self.length {
            self.sectors.split_off(&length.div_ceil(SECTOR));
            if let Some(last) = self.sectors.get_mut(&(length / SECTOR)) {
                last[(length % SECTOR) as usize..].fill(0);
            }
        }
        self.length = length;
    }

    pub(super) fn read(path: &Path) -> Self {
        let bytes = std::fs::read(path).unwrap();
        let mut content = Self::default();
        for piece in pieces(0, &bytes) {
            if piece.bytes.iter().any(|byte| *byte != 0) {
                content.put(piece);
            }
        }
        content.length = bytes.len() as u64;
        content
    }

    pub(super) fn write(&self, path: &Path) {
        let file = File::create(path).unwrap();
        file.set_len(self.length).unwrap();
        let mut run: (u64, Vec<u8>) = (0, Vec::new());
        for (number, sector) in &self.sectors {
            let at = number * SECTOR;
            if at != run.0 + run.1.len() as u64 {
                file.write_all_at(&run.1, run.0).unwrap();
                run = (at, Vec::new());
            }
            let used = (self.length - at).min(SECTOR) as usize;
            run.1.extend_from_slice(&sector[..used]);
        }
        file.write_all_at(&run.1, run.0).unwrap();
    }

    /// Removes sectors that are all zeros.
    pub(super) fn without_holes(mut self) -> Self {
        self.sectors
            .retain(|_, sector| sector.iter().any(|byte| *byte != 0));
        self
    }
}
