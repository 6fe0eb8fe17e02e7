//! The query of a read.

use crate::streams::query::Query;

#[test]
fn a_query_is_parsed_or_rejected() {
    everstep_fuzz::check_text(
        env!("CARGO_MANIFEST_DIR"),
        "query",
        |text| match Query::parse(text) {
            Ok(query) => format!("{:?} {}", query.live, query.cursor.is_some()),
            Err(_) => String::new(),
        },
    );
}
