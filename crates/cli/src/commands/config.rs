//! `everstep config`: shows all settings and where their values come from.

use clap::Args;
use serde_json::json;

use crate::arguments::GlobalOptions;
use crate::config::{Config, Kind, Origin, SETTINGS, display_value};
use crate::exit::Exit;
use crate::output::{Colour, Output, Table};

const EXAMPLES: &str = "\
Examples:
  everstep config
  EVERSTEP_LISTEN=0.0.0.0:4437 everstep config
  everstep config --config /etc/everstep.toml --json | jq .listen

Order of precedence: command line, environment (EVERSTEP_…), configuration file (--config, EVERSTEP_CONFIG or \
./everstep.toml), default.";

#[derive(Args, Debug)]
#[command(after_help = EXAMPLES)]
pub(crate) struct ShowConfig {}

pub(crate) fn run(global: &GlobalOptions) -> anyhow::Result<Exit> {
    let config = global.config(Vec::new())?;
    let out = Output::new(global.json);
    match out.is_json {
        true => out.json(&as_json(&config))?,
        false => out.table(&table(&config))?,
    }
    Ok(Exit::Success)
}

fn table(config: &Config) -> Table {
    let mut table = Table::new(&["SETTING", "VALUE", "FROM", "DESCRIPTION"]);
    for setting in SETTINGS {
        let known = config.value_and_origin(setting.name);
        let (value, origin) = match known {
            Some((value, origin)) => (display_value(setting, value), origin.to_string()),
            None => ("-".to_owned(), String::new()),
        };
        let colour = match known {
            None | Some((_, Origin::Default)) => Colour::Quiet,
            Some(_) => Colour::Plain,
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
        let known = config.value_and_origin(setting.name);
        let value = known.map(|(value, _)| (value, value.to_string_lossy()));
        let value = value.map(|(stored, value)| match setting.kind {
            Kind::Secret | Kind::Database => json!(display_value(setting, stored)),
            Kind::Flag => json!(value == "true"),
            Kind::Count => json!(value.parse::<u64>().ok()),
            Kind::Origins | Kind::Urls | Kind::Words(_) | Kind::Retention => {
                json!(config.list(setting.name))
            }
            Kind::Ratio => json!(value.parse::<f64>().ok()),
            Kind::Text | Kind::Path | Kind::Duration | Kind::Address | Kind::OneOf(_) => {
                json!(value)
            }
        });
        let from = known.map(|(_, origin)| origin.to_string());
        let name = setting.name.to_owned();
        (name, json!({"value": value, "from": from}))
    });
    serde_json::Value::Object(settings.collect())
}
