//! `everstep config`: what is in force, and who said so.

use clap::Args;
use serde_json::json;

use crate::arguments::Around;
use crate::config::{Config, Kind, SETTINGS, shown};
use crate::ending::Ending;
use crate::output::{Colour, Output, Table};

const EXAMPLES: &str = "\
Examples:
  everstep config
  EVERSTEP_LISTEN=0.0.0.0:4437 everstep config
  everstep config --config /etc/everstep.toml --json | jq .listen

What the command line says comes first, then the environment (EVERSTEP_…), then the file (./everstep.toml, or the one that
--config or EVERSTEP_CONFIG names), then the default.";

/// Shows every setting, what it is, and where that comes from. Secrets are not shown.
#[derive(Args, Debug)]
#[command(after_help = EXAMPLES)]
pub(crate) struct ShowConfig {}

pub(crate) fn run(around: &Around) -> anyhow::Result<Ending> {
    let config = around.config(Vec::new())?;
    let out = Output::new(around.json);
    match out.is_json {
        true => out.json(&as_json(&config))?,
        false => out.table(&table(&config))?,
    }
    Ok(Ending::Well)
}

fn table(config: &Config) -> Table {
    let mut table = Table::new(&["SETTING", "VALUE", "FROM", "WHAT IT IS"]);
    for setting in SETTINGS {
        let known = config.known(setting.name);
        let (value, origin) = match known {
            Some((value, origin)) => (shown(setting, value), origin.to_string()),
            None => ("-".to_owned(), String::new()),
        };
        let is_default = known.is_none() || origin == "default";
        let colour = if is_default {
            Colour::Quiet
        } else {
            Colour::Plain
        };
        table.row([
            (setting.name.to_owned(), Colour::Strong),
            (value, colour),
            (origin, colour),
            (setting.about.to_owned(), Colour::Quiet),
        ]);
    }
    table
}

fn as_json(config: &Config) -> serde_json::Value {
    let settings = SETTINGS.iter().map(|setting| {
        let known = config.known(setting.name);
        let value = known.map(|(value, _)| match setting.kind {
            Kind::Secret | Kind::Database => json!(shown(setting, value)),
            Kind::Flag => json!(value == "true"),
            Kind::Count => value
                .parse::<u64>()
                .map_or(json!(value), |count| json!(count)),
            Kind::List | Kind::Words(_) => json!(config.list(setting.name)),
            Kind::Share => json!(value.parse::<f64>().ok()),
            Kind::Text | Kind::Duration | Kind::Address | Kind::OneOf(_) => json!(value),
        });
        let from = known.map(|(_, origin)| origin.to_string());
        (
            setting.name.to_owned(),
            json!({"value": value, "from": from}),
        )
    });
    serde_json::Value::Object(settings.collect())
}
