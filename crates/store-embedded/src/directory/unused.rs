//! Unused space at the end of a file, which is allocated in advance and reads as zeros.
//!
//! The file system knows which parts of a file were never written. They are not read, so that the
//! cost follows what was written.

use std::fs::File;
use std::io::{self, Read, Seek, SeekFrom};

/// Returns the end of the last byte after `start` that is not zero.
pub(crate) fn end_of_use(file: &mut File, start: u64) -> io::Result<Option<u64>> {
    let mut chunk = vec![0; 1 << 16];
    let (mut at, mut end) = (start, None);
    while let Some(written) = next_written(file, at)? {
        file.seek(SeekFrom::Start(written))?;
        let length = file.read(&mut chunk)?;
        if length == 0 {
            break;
        }
        let bytes = chunk.get(..length).unwrap_or_default();
        if let Some(last) = bytes.iter().rposition(|byte| *byte != 0) {
            end = Some(written + last as u64 + 1);
        }
        at = written + length as u64;
    }
    Ok(end)
}

/// Returns the first position from `at` on that was written, or `None` if there is none.
#[cfg(any(target_os = "linux", target_os = "macos"))]
fn next_written(file: &File, at: u64) -> io::Result<Option<u64>> {
    use rustix::io::Errno;
    match rustix::fs::seek(file, rustix::fs::SeekFrom::Data(at)) {
        Ok(written) => Ok(Some(written)),
        Err(Errno::NXIO) => Ok(None),
        // The file system does not keep track.
        Err(Errno::INVAL | Errno::NOTSUP | Errno::NOSYS) => Ok(Some(at)),
        Err(error) => Err(error.into()),
    }
}

#[cfg(not(any(target_os = "linux", target_os = "macos")))]
fn next_written(_file: &File, at: u64) -> io::Result<Option<u64>> {
    Ok(Some(at))
}
