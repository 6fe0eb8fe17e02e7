//! Rule: comments do not treat code as a person. CONTRIBUTING.md asks for plain English; this rule
//! rejects the words that always break it. Text in backticks is exempt.

use super::allowance::{self, Allowance};
use super::repository::{Repository, SourceFile};
use super::runner::Problem;
use super::rust_text::{comments, positions};

const WORDS: &[&str] = &[
    "whoever",
    "nobody",
    "somebody",
    "is told",
    "are told",
    "come to be",
    "comes to be",
];

/// Files whose comments still contain such words.
const NOT_REWORDED: &[Allowance] = &[];

pub(crate) fn check(repository: &Repository) -> Vec<Problem> {
    check_with(repository, NOT_REWORDED)
}

pub(crate) fn check_with(repository: &Repository, table: &[Allowance]) -> Vec<Problem> {
    let has_words = |path: &str| {
        repository
            .file(path)
            .is_some_and(|file| found(file).next().is_some())
    };
    let mut problems = allowance::problems_of_table(table, repository, has_words);
    let files = repository.rust_files();
    for file in files.filter(|file| !allowance::covers(table, &file.path)) {
        problems.extend(found(file).map(|(line, word)| {
            let message = format!("`{word}` in a comment: say what the code does, in active voice");
            Problem::at(&file.path, line, message)
        }));
    }
    problems
}

/// The lines of comments with one of the words.
fn found(file: &SourceFile) -> impl Iterator<Item = (usize, &'static str)> {
    comments(&file.text).flat_map(|(line, comment)| {
        // Every second part is inside backticks.
        let prose: Vec<&str> = comment.split('`').step_by(2).collect();
        let prose = prose.join("`").to_lowercase();
        let words = WORDS
            .iter()
            .filter(move |word| positions(&prose, word).next().is_some());
        words.map(move |word| (line, *word))
    })
}
