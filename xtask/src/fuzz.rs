//! `cargo xtask fuzz`: the decoders' own tests (`fuzz_tests` in each crate), fed for minutes instead of moments and each
//! time with another seed. What is found is kept in the corpus of its target.

use crate::failure::Failure;
use crate::process::Invocation;

/// The crates with decoders.
const PACKAGES: &[&str] = &[
    "everstep-cli",
    "everstep-engine",
    "everstep-model",
    "everstep-server",
    "everstep-store",
    "everstep-store-embedded",
];

pub(crate) fn run(args: &[String]) -> Result<(), Failure> {
    let Asked { minutes, target } = Asked::parse(args)?;
    let mut words = vec![
        "test",
        "--locked",
        "--profile",
        "fuzz",
        "--lib",
        "--bins",
        "--no-fail-fast",
    ];
    for package in PACKAGES {
        words.extend(["--package", package]);
    }
    let filter = format!("fuzz_tests::{target}");
    words.extend([&filter, "--", "--nocapture"]);
    Invocation::cargo(&words)
        .variable("EVERSTEP_FUZZ_MINUTES", &minutes.to_string())
        .run()
}

/// What the command line asked for.
#[derive(Debug, PartialEq, Eq)]
struct Asked {
    minutes: u64,
    /// The beginning of a target's name; all of them if it is empty.
    target: String,
}

impl Asked {
    fn parse(args: &[String]) -> Result<Self, Failure> {
        let mut asked = Self {
            minutes: 1,
            target: String::new(),
        };
        let mut args = args.iter();
        while let Some(arg) = args.next() {
            match arg.as_str() {
                "--minutes" => {
                    let minutes = args.next().and_then(|minutes| minutes.parse().ok());
                    let wrong = || Failure::usage("--minutes takes a whole number");
                    asked.minutes = minutes.ok_or_else(wrong)?;
                }
                option if option.starts_with('-') => {
                    let message = format!("`fuzz` has no option `{option}`; see cargo xtask help");
                    return Err(Failure::usage(message));
                }
                target if asked.target.is_empty() => asked.target = target.to_owned(),
                _ => return Err(Failure::usage("`fuzz` takes one target, or none for all")),
            }
        }
        Ok(asked)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn asked(args: &[&str]) -> Result<(u64, String), String> {
        let args: Vec<String> = args.iter().map(|&arg| arg.to_owned()).collect();
        let asked = Asked::parse(&args).map_err(|failure| failure.to_string())?;
        Ok((asked.minutes, asked.target))
    }

    #[test]
    fn a_target_and_its_minutes_stand_in_any_order() {
        assert_eq!(asked(&[]), Ok((1, String::new())));
        let both = Ok((5, "frame".to_owned()));
        assert_eq!(asked(&["--minutes", "5", "frame"]), both);
        assert_eq!(asked(&["frame", "--minutes", "5"]), both);
    }

    #[test]
    fn a_mistyped_command_line_is_refused() {
        assert!(asked(&["--minutes", "many"]).is_err());
        assert!(asked(&["--hours", "1"]).is_err());
        assert!(asked(&["frame", "head"]).is_err());
    }
}
