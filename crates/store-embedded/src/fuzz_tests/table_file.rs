//! Files of tables, as salvages read them.

use crate::salvage::table_file;

#[test]
fn the_rows_of_a_file_are_read_or_skipped() {
    super::check("table_file", |bytes| {
        let mut rows = 0;
        let gaps = table_file::scan(bytes, |_| rows += 1);
        for gap in &gaps {
            assert!(gap.from < gap.to && gap.to <= bytes.len());
        }
        (rows, gaps.len())
    });
}
