//! Tests every rule on small repositories made of text.

use super::allowance::Allowance;
use super::repository::Repository;
use super::runner::{Problem, RULES};
use super::{
    banned_code, code_map, comment_width, error_pages, file_length, language, layers, links,
    machine_paths, module_docs, names, numbered_lists, rust_text, sleeping, symbols, test_names,
    type_size,
};

fn repository(files: &[(&str, &str)]) -> Repository {
    Repository::from_texts(
        files
            .iter()
            .map(|&(path, text)| (path.to_owned(), text.to_owned())),
    )
}

/// Problems as `path:line`, and the start of their message where it matters.
fn positions(problems: &[Problem]) -> Vec<String> {
    problems
        .iter()
        .map(|problem| format!("{}:{}", problem.path, problem.line))
        .collect()
}

#[track_caller]
fn expect(check: fn(&Repository) -> Vec<Problem>, files: &[(&str, &str)], expected: &[&str]) {
    let problems = check(&repository(files));
    assert_eq!(positions(&problems), expected, "{problems:#?}");
}

#[track_caller]
fn expect_message(problems: &[Problem], part: &str) {
    assert!(
        problems
            .iter()
            .any(|problem| problem.message.contains(part)),
        "{problems:#?}"
    );
}

/// For each rule, the smallest repository that breaks it.
fn breaking(rule: &str) -> Vec<(&'static str, String)> {
    let text = |path, text: &str| vec![(path, text.to_owned())];
    match rule {
        "module-docs" => text("xtask/src/a.rs", "fn a() {}"),
        "file-length" => text("xtask/src/a.rs", &"//!\n".repeat(501)),
        "comment-width" => text("xtask/src/a.rs", &format!("//! {}", "word ".repeat(21))),
        "banned-code" => text("xtask/src/a.rs", "//!\nfn a() { todo!() }"),
        "names" => text("xtask/src/utils.rs", "//!"),
        "test-names" => text("xtask/src/a.rs", "//!\n#[test]\nfn test_a() {}"),
        "sleeping" => text("xtask/src/tests.rs", "//!\nfn a() { thread::sleep(b) }"),
        "error-pages" => {
            let code = "//!\nfn as_str() { A => \"a\", }";
            let manifest = "[package]\nname = \"everstep-model\"".to_owned();
            vec![
                ("crates/model/src/error_code.rs", code.to_owned()),
                ("crates/model/Cargo.toml", manifest),
            ]
        }
        "numbered-lists" => text("docs/behaviours.md", "- **B1** It works."),
        "links" => text("README.md", "[a](b.md)"),
        "code-map" => text("ARCHITECTURE.md", "# Nothing"),
        "symbols" => text("docs/a.md", "`A::b`"),
        "machine-paths" => text("README.md", &format!("see /{}/a", "root")),
        "language" => text("xtask/src/a.rs", "//! Nobody reads this."),
        "layers" => text("crates/model/Cargo.toml", "[package]\nname = \"model\""),
        "module-cycles" => vec![
            (
                "crates/fuzz/Cargo.toml",
                "[package]\nname = \"everstep-fuzz\"".to_owned(),
            ),
            ("crates/fuzz/src/a.rs", "//!\nuse crate::b::B;".to_owned()),
            ("crates/fuzz/src/b.rs", "//!\nuse crate::a::A;".to_owned()),
        ],
        "type-size" => vec![
            (
                "crates/fuzz/Cargo.toml",
                "[package]\nname = \"everstep-fuzz\"".to_owned(),
            ),
            ("crates/fuzz/src/a.rs", large_struct("")),
        ],
        unknown => panic!("show here how the rule `{unknown}` is broken"),
    }
}

#[test]
fn every_rule_can_fail_alone() {
    for (broken, _) in RULES {
        let files = breaking(broken).into_iter();
        let repository = Repository::from_texts(files.map(|(path, text)| (path.to_owned(), text)));
        for (name, check) in RULES {
            let found = !check(&repository).is_empty();
            assert_eq!(found, name == broken, "{name} on {broken}");
        }
    }
}

#[test]
fn comments_that_treat_code_as_a_person_are_found() {
    let text = "//! Title\n// Whoever reads `this`.\nlet a = \"nobody\"; // nobody\n/// The user `nobody`.\n    // it is told so\n// nobody's";
    let found = ["a.rs:2", "a.rs:5", "a.rs:6"];
    expect(language::check, &[("a.rs", text), ("a.md", text)], &found);
    let allowed = [Allowance {
        path: "a.rs",
        reason: "it is quoted",
    }];
    let problems = |text| language::check_with(&repository(&[("a.rs", text)]), &allowed);
    assert_eq!(problems(text), []);
    expect_message(&problems("//! Title"), "no longer needs its exception");
}

#[test]
fn a_problem_reads_like_a_compiler_message() {
    assert_eq!(
        Problem::at("a.rs", 3, "is wrong").to_string(),
        "a.rs:3: is wrong"
    );
    assert_eq!(
        Problem::of("a.rs", "is wrong").to_string(),
        "a.rs: is wrong"
    );
}

#[test]
fn source_files_open_with_module_docs() {
    let files = [
        ("crates/model/src/a.rs", "//! The job.\n"),
        ("crates/model/src/b.rs", "use std::fs;\n//! Too late.\n"),
        ("crates/model/src/c.rs", "// No doc.\n"),
        ("crates/model/src/empty.rs", ""),
        ("crates/model/src/tests.rs", "use super::*;\n"),
        ("crates/model/tests/it/main.rs", "mod a;\n"),
        ("crates/model/examples/a.rs", "fn main() {}\n"),
        ("crates/model/benches/a.rs", "fn main() {}\n"),
        ("README.md", "# Not Rust\n"),
    ];
    let broken = [
        "crates/model/src/b.rs:1",
        "crates/model/src/c.rs:1",
        "crates/model/src/empty.rs:1",
        "crates/model/src/tests.rs:1",
    ];
    expect(module_docs::check, &files, &broken);
}

#[test]
fn long_files_need_a_reason_and_very_long_files_have_none() {
    let of_lines = |count: usize| "x\n".repeat(count);
    let (fits, long, too_long) = (of_lines(500), of_lines(501), of_lines(701));
    let files = [
        ("src/fits.rs", fits.as_str()),
        ("src/long.rs", &long),
        ("src/too_long.rs", &too_long),
        ("src/run/tests.rs", &too_long),
        ("tests/it/commit.rs", &too_long),
        ("PROTOCOL.md", &too_long),
    ];
    expect(
        file_length::check,
        &files,
        &["src/long.rs:0", "src/too_long.rs:0"],
    );

    let table = [
        Allowance {
            path: "src/long.rs",
            reason: "one table",
        },
        Allowance {
            path: "src/too_long.rs",
            reason: "no reason is good enough",
        },
    ];
    let problems = file_length::check_with(&repository(&files), &table);
    assert_eq!(positions(&problems), ["src/too_long.rs:0"]);
    expect_message(&problems, "hard limit");
}

#[test]
fn comments_are_wrapped() {
    let wide = "word ".repeat(21);
    let text = [
        format!("//! {wide}"),
        format!("/// {wide}"),
        format!("    // {wide}"),
        format!("// | {wide} |"),
        format!("//   diagram {wide}"),
        format!("// [link]: https://example.com/{}", "x".repeat(120)),
        format!("// [`Name`] {wide}"),
        format!("// {}", "x".repeat(120)),
        "// ```".to_owned(),
        format!("// {wide}"),
        "// ```".to_owned(),
        format!("let text = \"{wide}\";"),
    ];
    let text = text.join("\n");
    let expected = ["src/a.rs:1", "src/a.rs:2", "src/a.rs:3", "src/a.rs:7"];
    expect(comment_width::check, &[("src/a.rs", &text)], &expected);
}

#[test]
fn an_exception_that_is_not_needed_or_not_explained_is_a_problem() {
    let files = [("src/fits.rs", "x\n")];
    let table = [
        Allowance {
            path: "src/fits.rs",
            reason: "it was long once",
        },
        Allowance {
            path: "src/gone.rs",
            reason: "  ",
        },
    ];
    let problems = file_length::check_with(&repository(&files), &table);
    assert_eq!(
        positions(&problems),
        ["src/fits.rs:0", "src/gone.rs:0", "src/gone.rs:0"]
    );
    expect_message(&problems, "without a reason");
    expect_message(&problems, "no longer needs");
}

#[test]
fn unfinished_code_and_disabled_tests_are_found() {
    let text = r##"//! Says todo!() in a comment.
#[ignore]
#[ignore = "slow"]
#[cfg_attr(miri, ignore)]
#[should_panic(expected = "x")]
fn a() {
    todo!();
    unimplemented!("x");
    std::todo!();
    let text = "todo!() #[ignore]";
    let raw = r#"say "todo!()" "#;
    my_todo!();
    /* nested /* */ unimplemented!() */
}
#[serde(rename = "ignore")]
struct Ignored;
"##;
    let broken = [
        "a.rs:2", "a.rs:3", "a.rs:4", "a.rs:5", "a.rs:7", "a.rs:9", "a.rs:8",
    ];
    expect(banned_code::check, &[("a.rs", text)], &broken);
}

#[test]
fn vague_names_are_found_in_files_folders_and_modules() {
    let files = [
        ("crates/common/src/lib.rs", ""),
        ("crates/store/src/journal_v2.rs", ""),
        ("crates/store/src/misc/key.rs", ""),
        ("crates/store/src/lease_manager.rs", ""),
        (
            "crates/store/src/row.rs",
            "mod a;\nmod helpers { }\n// mod utils\n",
        ),
        ("sdks/python/util.py", ""),
    ];
    let broken = [
        "crates/common/src/lib.rs:0",
        "crates/store/src/journal_v2.rs:0",
        "crates/store/src/lease_manager.rs:0",
        "crates/store/src/misc/key.rs:0",
        "crates/store/src/row.rs:2",
        "sdks/python/util.py:0",
    ];
    expect(names::check, &files, &broken);
    let fine = [
        ("crates/store/src/common_prefix.rs", "mod v1;"),
        ("crates/server/src/v2/route.rs", ""),
        ("crates/store/tests/fixtures/format_v2/journal.bin", ""),
        ("docs/utils.md", ""),
    ];
    expect(names::check, &fine, &[]);
}

#[test]
fn tests_are_named_as_claims() {
    let text = "
#[test]
fn test_commit() {}
#[tokio::test(flavor = \"current_thread\")]
#[cfg(unix)]
async fn test_lease() {}
#[test]
fn stale_epoch_is_refused() {}
fn test_store() {}
";
    expect(test_names::check, &[("a.rs", text)], &["a.rs:3", "a.rs:6"]);
    let kit = "pub async fn test_fencing() {}\npub async fn stale_epoch_is_refused() {}";
    let path = "crates/store-testkit/src/fencing.rs";
    expect(
        test_names::check,
        &[(path, kit)],
        &["crates/store-testkit/src/fencing.rs:1"],
    );
}

#[test]
fn tests_that_sleep_are_found_and_product_code_is_left_alone() {
    let inline = "
fn poll() { std::thread::sleep(PAUSE); }
#[cfg(not(test))]
fn other() { std::thread::sleep(PAUSE); }
#[cfg(test)]
mod tests {
    use tokio::time::{Duration, sleep};
    fn wait() { tokio::time::sleep_until(then); }
    fn fine() { time::advance(PAUSE); /* thread::sleep */ }
}
fn after() { std::thread::sleep(PAUSE); }
";
    let files = [
        ("src/a.rs", inline),
        ("src/tests.rs", "fn a() { thread::sleep(b) }"),
        ("tests/it/main.rs", "fn a() { time::sleep(b) }"),
        (
            "crates/store-testkit/src/lease.rs",
            "fn a() { time::sleep(b) }",
        ),
    ];
    let broken = [
        "crates/store-testkit/src/lease.rs:1",
        "src/a.rs:7",
        "src/a.rs:8",
        "src/tests.rs:1",
        "tests/it/main.rs:1",
    ];
    expect(sleeping::check, &files, &broken);

    let table = [
        Allowance {
            path: "src/tests.rs",
            reason: "real time is what it tests",
        },
        Allowance {
            path: "src/awake.rs",
            reason: "it slept once",
        },
    ];
    let files = [
        ("src/tests.rs", "fn a() { thread::sleep(b) }"),
        ("src/awake.rs", ""),
    ];
    let problems = sleeping::check_with(&repository(&files), &table);
    assert_eq!(positions(&problems), ["src/awake.rs:0"]);
}

#[test]
fn error_codes_and_pages_match() {
    let codes = "
words! {
    pub enum ErrorCode {
        /// The name = \"not_this\",
        // Not = \"this_either\",
        RunNotFound = \"run_not_found\",
        Fenced = \"fenced\",
    }
}
const TITLE: &str = \"elsewhere\";
";
    let path = "crates/model/src/error_code.rs";
    let pages = [
        ("docs/errors/fenced.md", ""),
        ("docs/errors/run_not_found.md", ""),
    ];
    let index = ("docs/errors/README.md", "");
    expect(
        error_pages::check,
        &[(path, codes), pages[0], pages[1], index],
        &[],
    );
    let orphan = ("docs/errors/elsewhere.md", "");
    let broken = [
        "crates/model/src/error_code.rs:6",
        "docs/errors/elsewhere.md:0",
    ];
    expect(
        error_pages::check,
        &[(path, codes), pages[0], orphan],
        &broken,
    );
    expect(
        error_pages::check,
        &[(path, "enum ErrorCode {}")],
        &["crates/model/src/error_code.rs:0"],
    );
    expect(error_pages::check, &[pages[0]], &[]);
}

#[test]
fn error_codes_are_found_in_any_layout() {
    let codes = "
crate::words! {
    #[doc = \"Not a code\"]
    pub enum ErrorCode { A = \"a\", B=\"b\",
        C =
            \"c\", // Not = \"this\",
        #[cfg(feature = \"x\")] D = \"d\", E = r\"e\",
    }
}
";
    let path = "crates/model/src/error_code.rs";
    let problems = error_pages::check(&repository(&[(path, codes)]));
    let lines = [4, 4, 5, 7, 7].map(|line| format!("{path}:{line}"));
    assert_eq!(positions(&problems), lines, "{problems:#?}");
}

#[test]
fn relative_links_lead_somewhere() {
    let guide = "\
# The guide

## Getting `everstep` to run, quickly
[up](../README.md) [root](/README.md) [folder](..) [here](#getting-everstep-to-run-quickly)
[gone](gone.md) [above](../../secret.md) [no heading](../README.md#nowhere)
[site](https://example.org/x) ![image](<a b.svg>) [titled](../README.md \"title\")
`[code](gone.md)` ``[code](gone.md) ` ``
```
[fenced](gone.md)
```
[ref]: gone.md
[^1]: a footnote
<img src=\"gone.svg\"> [twice](#twice-1)
## Twice
## Twice
";
    let files = [
        (
            "README.md",
            "# Hello\n[guide](docs/guide.md#the-guide) [docs](docs/)\n",
        ),
        ("docs/guide.md", guide),
        ("docs/a b.svg", ""),
    ];
    let broken = [
        "docs/guide.md:5",
        "docs/guide.md:5",
        "docs/guide.md:5",
        "docs/guide.md:11",
        "docs/guide.md:13",
    ];
    expect(links::check, &files, &broken);
    let problems = links::check(&repository(&files));
    for part in ["leads nowhere", "leaves the repository", "names a heading"] {
        expect_message(&problems, part);
    }
}

/// The problems of a repository with two crates and this map.
fn problems_of_map(map: &str) -> Vec<String> {
    let files = [
        ("crates/store/src/lib.rs", ""),
        ("crates/store/src/clock.rs", ""),
        ("crates/store/src/tests.rs", ""),
        ("crates/store/src/judge/mod.rs", ""),
        ("crates/store/src/judge/lease.rs", ""),
        ("crates/store-embedded/src/lib.rs", ""),
        ("ARCHITECTURE.md", map),
    ];
    let problems = code_map::check(&repository(&files));
    problems
        .into_iter()
        .map(|problem| problem.message)
        .collect()
}

#[test]
fn the_code_map_names_every_crate_and_its_top_level_modules() {
    let complete = "## Code map\n- `crates/store`: `clock.rs`,\n  `judge/lease.rs`\n\
                    `crates/store-embedded`\n";
    assert_eq!(problems_of_map(complete), [""; 0]);
    let in_two_parts = "## The Code Map\n- `crates/store`: `clock.rs`\n- `crates/store-embedded`\n\
                        ### Tools\n`crates/store`\n\n| `judge` |\n";
    assert_eq!(problems_of_map(in_two_parts), [""; 0]);
    for (incomplete, problem) in [
        (
            "# Code map\n- `crates/store`: `clock.rs`, `judge/`, store-embedded\n",
            "the code map does not name `crates/store-embedded`",
        ),
        (
            "# Code map\n- `crates/store`: `judge/`\n- `crates/store-embedded`: `clock`\n",
            "the code map does not name the module `clock` of store",
        ),
        (
            "# Code map\n- `crates/store`: `clock.rs`\n# Judge\n`judge/`\n\
             # Code map 2\n`crates/store-embedded`\n",
            "the code map does not name the module `judge` of store",
        ),
        (
            "`crates/store`\n",
            "has no section with `code map` in its heading",
        ),
    ] {
        let problems = problems_of_map(incomplete);
        assert!(problems.iter().any(|p| p == problem), "{problems:?}");
    }
}

#[test]
fn the_code_map_names_only_files_that_exist() {
    let map = "# Code map\n`store/src/judge/lease.rs`, `store/src/judge/gone.rs`, `/v1/stream/`\n\
               - `crates/store`: `clock.rs`, `judge/`, `lease.rs`, `guards/`\n\
               - `crates/store-embedded`: `lease.rs`\n";
    let expected = [
        "the code map names `store/src/judge/gone.rs`, which does not exist in `crates/`",
        "the code map names `guards/`, which does not exist in `crates/store`",
        "the code map names `lease.rs`, which does not exist in `crates/store-embedded`",
    ];
    assert_eq!(problems_of_map(map), expected);
}

#[test]
fn paths_of_one_machine_are_found() {
    let (root, home, work) = ("root", "home", "work");
    let text = format!(
        "a\n`/{root}/x`\nfile:///{home}/me/x\n\"/{work}/main\"\n\
         https://example.org/{home}/x\n/v1/{work}/x\n$HOME/{work}/x\n${{dir}}/{work}/x\n./{work}/x\n"
    );
    let broken = ["a.md:2", "a.md:4", "a.md:3"];
    expect(machine_paths::check, &[("a.md", &text)], &broken);
}

#[test]
fn dependencies_follow_the_layers() {
    let machine = "\
[package]
name = \"everstep-machine\"
[dependencies]
everstep-model.workspace = true
everstep-store = { workspace = true }
serde = { workspace = true }
storage = { package = \"everstep-store-embedded\", path = \"x\" }
[dev-dependencies]
everstep-engine = { workspace = true }
[target.'cfg(unix)'.dependencies]
everstep = { workspace = true }
[dependencies.everstep-engine]
workspace = true
";
    let path = "crates/machine/Cargo.toml";
    let mut positions = positions(&layers::check(&repository(&[(path, machine)])));
    positions.sort();
    let broken = ["11", "13", "5", "7"].map(|line| format!("{path}:{line}"));
    assert_eq!(positions, broken);

    let unknown = "[package]\nname = \"everstep-extra\"\n";
    expect(
        layers::check,
        &[("crates/extra/Cargo.toml", unknown)],
        &["crates/extra/Cargo.toml:0"],
    );
    expect(
        layers::check,
        &[("crates/bare/src/lib.rs", "")],
        &["crates/bare:0"],
    );
}

#[test]
fn cited_numbers_are_listed_and_listed_numbers_are_cited() {
    let citing = "\
//! Invariants 1 to 3, 5 and 7: and 40 other things. This breaks invariants 8,
//! 9.
// B1, B2
fn a() { Violation::of(4, \"invariant 50\"); Violation::of(0, x); Violation::of(12, x) }
/// B3: said in 2 words, B, BB4, b5. An invariant that has no number.
";
    let planted = "//! Bugs.\nA, \"a\",\n \"It breaks (10, 11).\";";
    let list = |prefix: &str, numbers: &[u32]| -> String {
        let lines = numbers
            .iter()
            .map(|n| format!("- **{prefix}{n}** It holds.\n"));
        lines.collect()
    };
    let of = |behaviours: &[u32], invariants: &[u32]| {
        numbered_lists::check(&repository(&[
            ("crates/sim/src/a.rs", citing),
            ("crates/model/src/planted.rs", planted),
            ("xtask/src/a.rs", "//! B99, invariant 99"),
            ("docs/behaviours.md", &list("B", behaviours)),
            ("docs/invariants.md", &list("", invariants)),
        ]))
    };
    let cited = [1, 2, 3, 4, 5, 7, 8, 9, 10, 11, 12];
    assert_eq!(of(&[1, 2, 3], &cited), []);
    assert_eq!(positions(&of(&[1, 3], &cited)), ["crates/sim/src/a.rs:3"]);
    let problems = of(&[1, 2, 3, 4], &cited);
    assert_eq!(positions(&problems), ["docs/behaviours.md:4"]);
    expect_message(&problems, "does not cite `B4`");
    let problems = of(&[1, 2, 3, 3], &cited);
    assert_eq!(positions(&problems), ["docs/behaviours.md:4"]);
    expect_message(&problems, "twice");
    let problems = of(&[1, 2, 3], &[1, 2, 3, 5, 7, 8, 9, 10, 12, 13]);
    let expected = [
        "crates/model/src/planted.rs:3",
        "crates/sim/src/a.rs:4",
        "docs/invariants.md:10",
    ];
    assert_eq!(positions(&problems), expected);

    let harmless = [
        ("docs/invariants.md", "- **1** x"),
        ("crates/a/src/a.rs", "// Invariant 1"),
    ];
    expect(numbered_lists::check, &harmless, &["docs/invariants.md:0"]);
    expect_message(&numbered_lists::check(&repository(&harmless)), "exception");
}

#[test]
fn the_default_backend_stays_optional_for_the_user() {
    let package = "[package]\nname = \"everstep\"\n";
    let path = "crates/everstep/Cargo.toml";
    let check = |dependency: &str, expected: &[&str]| {
        expect(
            layers::check,
            &[(path, &format!("{package}{dependency}\n"))],
            expected,
        );
    };
    let name = "everstep-store-embedded";
    check(
        &format!("[dependencies]\n{name} = {{ workspace = true, optional = true }}"),
        &[],
    );
    check(
        &format!("[dependencies]\n{name}.workspace = true\n{name}.optional = true"),
        &[],
    );
    check(
        &format!("[dependencies.{name}]\nworkspace = true\noptional = true"),
        &[],
    );
    check(
        &format!("[dependencies]\n{name}.workspace = true"),
        &["crates/everstep/Cargo.toml:4"],
    );
}

#[test]
fn comments_and_literals_are_blanked_at_equal_length() {
    let check = |text: &str, expected: &str| {
        let code = rust_text::code_only(text);
        assert_eq!(code, expected, "{text}");
        assert_eq!(code.len(), text.len(), "{text}");
    };
    check("a // b\nc", "a     \nc");
    check("a /* b /* c */ d */ e", "a                   e");
    check(r#"a("b \" c") d"#, "a(        ) d");
    check(r###"r#"x "y" z"# + r#type"###, "             + r#type");
    check("b\"x\" br\"y\\\" c", "b           c");
    check("f::<'a>('x', '\\'', b'\"') ", "f::<'a>(   ,     , b   ) ");
    check("\"é\n\" x", "   \n  x");
    check("var\"x\"", "var   ");
}

fn large_struct(above: &str) -> String {
    let fields: String = (0..16)
        .map(|n| format!("    pub(crate) f{n}: u8,\n"))
        .collect();
    format!("//!\n{above}#[derive(Debug)]\npub struct Large {{\n{fields}}}\n")
}

#[test]
fn a_type_with_too_many_fields_needs_a_reason_above_it() {
    let path = "crates/fuzz/src/a.rs";
    expect(
        type_size::check,
        &[(path, &large_struct(""))],
        &[&format!("{path}:3")],
    );
    expect(
        type_size::check,
        &[(path, &large_struct("// Large type: one row.\n"))],
        &[],
    );
    let small = "//!\n// Large type: one row.\nstruct Small {\n    a: u8,\n}\n";
    expect(type_size::check, &[(path, small)], &[&format!("{path}:3")]);
}

#[test]
fn methods_of_a_type_count_across_files_and_those_of_traits_do_not() {
    let methods = |count| "    pub async fn a(&self) {}\n".repeat(count);
    let part = |count| {
        format!(
            "//!\nimpl<T: Ord> super::Large<T> {{\n{}}}\n",
            methods(count)
        )
    };
    let of_trait = format!("//!\nimpl Trait for Large {{\n{}}}\n", methods(9));
    let paths = [
        "crates/fuzz/src/a.rs",
        "crates/fuzz/src/b.rs",
        "crates/fuzz/src/c.rs",
    ];
    let definition = "//!\npub struct Large<T>(T);\n".to_owned();
    let files = |count| {
        let texts = [definition.clone(), part(20), part(count) + &of_trait];
        repository(&[0, 1, 2].map(|n| (paths[n], &*texts[n])))
    };
    assert_eq!(type_size::check(&files(20)), []);
    expect_message(&type_size::check(&files(21)), "41 methods");
}

#[test]
fn documents_name_only_symbols_that_the_code_contains() {
    let files = [
        (
            "crates/machine/src/loops.rs",
            "impl Loops { fn scan() {} }\n",
        ),
        (
            "docs/journals.md",
            "`Loops::scan`, `Loops::foresee`, `a :: b`\n",
        ),
        ("CHANGELOG.md", "`Loops::foresee`\n"),
        ("docs/adr/0001.md", "`Loops::foresee`\n"),
    ];
    let problems = symbols::check(&repository(&files));
    let [problem] = problems.as_slice() else {
        panic!("{problems:?}");
    };
    assert_eq!(
        problem.message,
        "names `Loops::foresee`, but no code contains `foresee`"
    );
}
