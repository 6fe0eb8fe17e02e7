//! The file with settings is fed what nobody wrote: it is understood, with settings that exist, or refused.

use std::path::Path;

use super::file::read;
use super::settings::find;

#[test]
fn a_file_is_understood_or_refused() {
    everstep_fuzz::check_text(env!("CARGO_MANIFEST_DIR"), "config", |text| {
        let Ok(settings) = read(Path::new("everstep.toml"), text) else {
            return String::new();
        };
        let fitting = settings.iter().filter(|(name, value)| {
            let kind = find(name).unwrap().kind;
            kind.check(value).is_ok()
        });
        format!("{} {}", settings.len(), fitting.count())
    });
}
