//! The terminal of `dev`: what to try, then a story for people or JSON lines for programs.

use everstep::{RunId, entry_to_json};
use serde::Serialize;
use serde_json::value::RawValue;

use super::watch::Line;
use crate::output::{Colour, Output};
use crate::story::Story;

/// A record in the output for programs.
#[derive(Serialize)]
struct RecordLine<'a> {
    run: &'a RunId,
    record: Box<RawValue>,
}

/// What to type in another terminal.
const TRY: &[(&str, &str)] = &[
    (
        r#"everstep start hello '{"name":"Ada"}' --wait"#,
        "a run, and its result",
    ),
    (
        r#"everstep start expense '{"amount":1500,"description":"Team dinner","submittedBy":"alice@example.com"}' --id expense-1"#,
        "",
    ),
    ("everstep tail expense-1", "follow it; it asks somebody"),
    (
        r#"everstep answer expense-1 approveExpense '{"approved":true}'"#,
        "be that somebody",
    ),
    ("everstep list", ""),
];

/// Where everything is shown.
pub(super) struct Screen {
    out: Output,
    /// In the order they came, which gives them their colours.
    runs: Vec<RunId>,
    story: Story,
}

impl Screen {
    pub(super) fn new(is_json: bool) -> Self {
        Self {
            out: Output::new(is_json),
            runs: Vec::new(),
            story: Story::default(),
        }
    }

    pub(super) fn introduce(
        &mut self,
        url: &str,
        place: &str,
        durability: &str,
        left: usize,
    ) -> anyhow::Result<()> {
        if self.out.is_json {
            return self.out.json(&serde_json::json!({"listening": url}));
        }
        let paint = self.out.paint;
        let address = paint.paint(Colour::Strong, url);
        self.out.line(&format!(
            "Everstep serves {address}, for this machine alone.\n"
        ))?;
        self.out.line(&format!("  data       {place}"))?;
        self.out.line(&format!("  survives   {durability}"))?;
        self.out.line("  workflows  hello, payment, expense")?;
        self.out.line(&match left {
            0 => "  runs       none was left behind".to_owned(),
            1 => "  runs       1 that was left behind goes on".to_owned(),
            count => format!("  runs       {count} that were left behind go on"),
        })?;
        self.out.line("\nTry in another terminal:")?;
        for (command, about) in TRY {
            let about = match about {
                &"" => String::new(),
                about => paint.paint(Colour::Quiet, &format!("   # {about}")),
            };
            self.out.line(&format!("  {command}{about}"))?;
        }
        let hint = "Kill this one in the middle (kill -9) and start it again: every run goes on where it was.\n";
        self.out
            .line(&format!("\n{}", paint.paint(Colour::Quiet, hint)))?;
        Ok(())
    }

    pub(super) fn show(&mut self, line: &Line) -> anyhow::Result<()> {
        let Line { run, entry } = line;
        if self.out.is_json {
            let record = RawValue::from_string(entry_to_json(entry)?)?;
            return self.out.json(&RecordLine { run, record });
        }
        if !self.runs.contains(run) {
            self.runs.push(run.clone());
        }
        let name = self.name(run);
        for told in self.story.tell(run, std::slice::from_ref(entry)) {
            let line = told.line(self.out.paint, &format!("{name}  "));
            self.out.line(&line)?;
        }
        Ok(())
    }

    pub(super) fn remark(&mut self, text: &str) -> std::io::Result<()> {
        match self.out.is_json {
            true => Ok(()),
            false => self.out.line(&format!("\n{text}")),
        }
    }

    /// A run's name in its colour, as wide as the widest.
    fn name(&self, run: &RunId) -> String {
        const WIDTH_MAX: usize = 32;
        let widths = self.runs.iter().map(|run| run.as_str().len());
        let width = widths
            .filter(|width| *width <= WIDTH_MAX)
            .max()
            .unwrap_or(0);
        let padded = format!("{:width$}", run.as_str());
        let place = self.runs.iter().position(|known| known == run);
        self.out
            .paint
            .paint(Colour::Run(place.unwrap_or(0)), &padded)
    }
}
