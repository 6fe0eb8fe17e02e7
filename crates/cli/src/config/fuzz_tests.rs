//! Feeds random input to the parser of the configuration file.

use std::path::Path;

use super::file::parse;
use super::settings::find;

#[test]
fn a_file_is_parsed_or_rejected() {
    everstep_fuzz::check_text(env!("CARGO_MANIFEST_DIR"), "config", |text| {
        let Ok(settings) = parse(Path::new("everstep.toml"), text) else {
            return String::new();
        };
        let valid = settings.iter().filter(|(name, value)| {
            let kind = find(name).unwrap().kind;
            kind.check(value).is_ok()
        });
        format!("{} {}", settings.len(), valid.count())
    });
}
