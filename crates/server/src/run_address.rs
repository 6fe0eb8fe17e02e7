//! The address of a run in a path: `{id}` for its latest generation, `{id}@{n}` for generation n.

use everstep_model::{Generation, InvalidRunId, RunId};

pub(crate) fn parse(text: &str) -> Result<(RunId, Option<Generation>), InvalidRunId> {
    let parsed = text.rsplit_once('@').and_then(|(id, number)| {
        let generation = number.parse().ok().filter(|number| *number > 0)?;
        Some((id, Generation(generation)))
    });
    match parsed {
        Some((id, generation)) => Ok((RunId::new(id)?, Some(generation))),
        None => Ok((RunId::new(text)?, None)),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    // B569
    #[test]
    fn a_run_has_an_address_with_and_without_a_generation() {
        let run = || RunId::new("a").unwrap();
        assert_eq!(parse("a"), Ok((run(), None)));
        assert_eq!(parse("a@2"), Ok((run(), Some(Generation(2)))));
        for invalid in ["", "@1", "a@", "a@0", "a@x", "a@1@2", "a/b"] {
            assert!(parse(invalid).is_err(), "{invalid}");
        }
    }
}
