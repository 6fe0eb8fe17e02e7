//! Collects the pages of `docs/errors/` into the table that `src/error_pages.rs` includes.

use std::error::Error;
use std::path::Path;
use std::{env, fs};

/// The page about all codes.
const INDEX: &str = "README";

fn main() -> Result<(), Box<dyn Error>> {
    let folder = Path::new(&env::var("CARGO_MANIFEST_DIR")?).join("../../docs/errors");
    println!("cargo::rerun-if-changed={}", folder.display());
    let mut rows = Vec::new();
    for entry in fs::read_dir(&folder)? {
        let path = entry?.path();
        if path.extension().is_none_or(|extension| extension != "md") {
            continue;
        }
        if let Some(code) = path.file_stem().filter(|code| *code != INDEX) {
            rows.push(format!("({code:?}, include_str!({path:?})),\n"));
        }
    }
    rows.sort_unstable();
    let table = Path::new(&env::var("OUT_DIR")?).join("error_pages.rs");
    fs::write(table, format!("&[\n{}]\n", rows.concat()))?;
    Ok(())
}
