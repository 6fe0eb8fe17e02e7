//! Paths of streams: an accepted path names no journal and contains no `..`.

use crate::streams::StreamPath;

#[test]
fn a_path_that_is_accepted_names_no_journal() {
    everstep_fuzz::check_text(env!("CARGO_MANIFEST_DIR"), "stream_path", |text| {
        let Ok(path) = StreamPath::new(text) else {
            return false;
        };
        assert_eq!(path.as_str(), text);
        assert!(path.name().run().is_none() && path.name().user_path() == Some(text));
        assert!(text.split('/').all(|part| !matches!(part, "" | "." | "..")));
        assert!(!text.starts_with("workflows/") && !text.starts_with("__ds/"));
        true
    });
}
