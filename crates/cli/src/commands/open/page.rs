//! The page about a run: its fields, steps and timeline as HTML without scripts.

use everstep_protocol::workflow::{RunView, StepView};

use crate::local_time::{LocalClock, local_time};
use crate::output::{escape_controls, truncate};
use crate::timeline::ServerLine;

const STYLE: &str = "body{font:15px/1.5 system-ui,sans-serif;margin:2rem auto;max-width:60rem;padding:0 1rem}\
table{border-collapse:collapse}td,th{text-align:left;vertical-align:top;padding:.2rem 1.2rem .2rem 0}\
code{font-size:13px;overflow-wrap:anywhere}h2{font-size:1.1rem;margin-top:2rem}.quiet{color:#777}\
@media(prefers-color-scheme:dark){body{background:#111;color:#ddd}}";

pub(super) fn render(run: &RunView, lines: &[ServerLine]) -> String {
    let title = format!("{} is {}", run.id, run.status);
    let mut fields = vec![
        (
            "workflow",
            format!("{} (version {})", run.workflow, run.version),
        ),
        ("generation", run.generation.to_string()),
        ("created", local_time(run.created_at)),
        ("input", run.input.as_str().to_owned()),
    ];
    let result = run.result.as_ref().map(|it| it.as_str().to_owned());
    let error = run.error.as_ref().map(ToString::to_string);
    let ended = run.completed_at.map(local_time);
    for (name, value) in [("ended", ended), ("result", result), ("error", error)] {
        fields.extend(value.map(|value| (name, value)));
    }
    let fields = fields.iter().map(|(name, value)| row(&[name, value]));
    let steps = run.steps.iter().map(step);
    format!(
        "<!doctype html><html lang=en><meta charset=utf-8><title>{title}</title><style>{STYLE}</style>\
         <h1>{title}</h1><table>{}</table><h2>Steps</h2><table>{}</table><h2>Timeline</h2>{}</html>\n",
        fields.collect::<String>(),
        steps.collect::<String>(),
        timeline(lines),
        title = escape(&title),
    )
}

fn step(step: &StepView) -> String {
    let result = match (&step.result, &step.error) {
        _ if step.redacted => "(secret)".to_owned(),
        (Some(result), _) => truncate(result.as_str()),
        (None, Some(error)) => truncate(&error.message),
        (None, None) => String::new(),
    };
    row(&[&step.id, step.status.as_str(), &result])
}

fn timeline(lines: &[ServerLine]) -> String {
    let mut clock = LocalClock::new();
    let mut html = String::from("<table>");
    for line in lines {
        let line = line.render();
        let (heading, time) = clock.format(line.time);
        if let Some(heading) = heading {
            html.push_str(&row(&["", &heading]));
        }
        html.push_str(&row(&[&time, &line.text]));
    }
    html + "</table>"
}

/// A row whose first cell is quiet.
fn row(cells: &[&str]) -> String {
    let cells = cells.iter().enumerate().map(|(index, cell)| {
        let class = if index == 0 { " class=quiet" } else { "" };
        format!("<td{class}><code>{}</code></td>", escape(cell))
    });
    format!("<tr>{}</tr>", cells.collect::<String>())
}

fn escape(text: &str) -> String {
    let text = escape_controls(text).replace('&', "&amp;");
    text.replace('<', "&lt;")
        .replace('>', "&gt;")
        .replace('"', "&quot;")
}

#[cfg(test)]
mod tests {
    use super::*;

    // B567
    #[test]
    fn texts_of_users_are_escaped() {
        let text = "<script>\"a\" & b</script>\u{202e}";
        let expected = "&lt;script&gt;&quot;a&quot; &amp; b&lt;/script&gt;\\u{202e}";
        assert_eq!(escape(text), expected);
    }
}
