//! The query of a read. Whatever it says, it is understood or refused.

use crate::streams::query::Query;

#[test]
fn a_query_that_is_understood_says_where_to_begin() {
    everstep_fuzz::check_text(
        env!("CARGO_MANIFEST_DIR"),
        "query",
        |text| match Query::parse(text) {
            Ok(query) => format!("{:?} {}", query.live, query.cursor.is_some()),
            Err(_) => String::new(),
        },
    );
}
