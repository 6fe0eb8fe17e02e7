//! All cases are named in the macros, so that they run.

use std::fs;
use std::path::Path;

#[test]
fn every_case_is_named_in_a_macro() {
    let source = Path::new(env!("CARGO_MANIFEST_DIR")).join("src");
    let macros = fs::read_to_string(source.join("conformance.rs")).unwrap();
    let mut cases = 0;
    for file in fs::read_dir(source.join("cases")).unwrap() {
        let path = file.unwrap().path();
        let text = fs::read_to_string(&path).unwrap();
        for rest in text.split("pub async fn ").skip(1) {
            let name = rest.split(['<', '(']).next().unwrap();
            let named = format!(" {name},");
            assert!(
                macros.contains(&named),
                "{name} of {} is in no macro",
                path.display()
            );
            cases += 1;
        }
    }
    assert!(cases > 80, "{cases} cases found");
}
