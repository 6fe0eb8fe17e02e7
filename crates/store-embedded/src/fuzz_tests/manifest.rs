//! Manifests of the key-value store.

use crate::directory::manifest_check::{listed_files, parse};

#[test]
fn a_manifest_lists_files_or_is_refused() {
    super::check("manifest", |bytes| {
        let files = listed_files(bytes);
        (files.map(|files| files.len()), parse(bytes).is_some())
    });
}
