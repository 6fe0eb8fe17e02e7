//! `cargo xtask fuzz`: runs the fuzz tests of the decoders (`fuzz_tests` in each crate) for minutes
//! instead of seconds and with a new seed each time. Failing inputs are added to the corpus of
//! their target.

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
    let Options { minutes, target } = Options::parse(args)?;
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

/// The parsed command line.
#[derive(Debug, PartialEq, Eq)]
struct Options {
    minutes: u64,
    /// A prefix of the targets' names. Empty selects all targets.
    target: String,
}

impl Options {
    fn parse(args: &[String]) -> Result<Self, Failure> {
        let mut options = Self {
            minutes: 1,
            target: String::new(),
        };
        let mut args = args.iter();
        while let Some(arg) = args.next() {
            match arg.as_str() {
                "--minutes" => {
                    let minutes = args.next().and_then(|minutes| minutes.parse().ok());
                    let wrong = || Failure::usage("--minutes takes a whole number");
                    options.minutes = minutes.ok_or_else(wrong)?;
                }
                option if option.starts_with('-') => {
                    let message = format!("`fuzz` has no option `{option}`; see cargo xtask help");
                    return Err(Failure::usage(message));
                }
                target if options.target.is_empty() => options.target = target.to_owned(),
                _ => return Err(Failure::usage("`fuzz` takes one target, or none for all")),
            }
        }
        Ok(options)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn options(args: &[&str]) -> Result<(u64, String), String> {
        let args: Vec<String> = args.iter().map(|&arg| arg.to_owned()).collect();
        let options = Options::parse(&args).map_err(|failure| failure.to_string())?;
        Ok((options.minutes, options.target))
    }

    #[test]
    fn a_target_and_its_minutes_stand_in_any_order() {
        assert_eq!(options(&[]), Ok((1, String::new())));
        let both = Ok((5, "frame".to_owned()));
        assert_eq!(options(&["--minutes", "5", "frame"]), both);
        assert_eq!(options(&["frame", "--minutes", "5"]), both);
    }

    #[test]
    fn a_mistyped_command_line_is_refused() {
        assert!(options(&["--minutes", "many"]).is_err());
        assert!(options(&["--hours", "1"]).is_err());
        assert!(options(&["frame", "head"]).is_err());
    }
}
