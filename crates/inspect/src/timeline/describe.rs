//! What every kind of record contributes to its line.

use super::details::Details;
use super::elapsed::Elapsed;

pub(super) trait Describe {
    /// What happened, in plain English on one line and without payloads. Parts that are not known are left out.
    fn sentence(&self, elapsed: Elapsed) -> String;

    fn details(&self) -> Details<'_> {
        Details::default()
    }
}
