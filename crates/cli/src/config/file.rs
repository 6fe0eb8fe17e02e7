//! Reads `everstep.toml`. Rejects unknown keys.

use std::path::Path;

use super::settings::{Kind, find, similar};
use crate::usage_error::UsageError;

/// Parses the content of a configuration file.
pub(crate) fn parse(path: &Path, text: &str) -> Result<Vec<(&'static str, String)>, UsageError> {
    let wrong = |what: String| {
        let what = format!("{}: {what}", path.display());
        UsageError::new(what, "`everstep config` lists all settings.")
    };
    let table: toml::Table = text
        .parse()
        .map_err(|error: toml::de::Error| wrong(error.to_string().trim_end().to_owned()))?;
    let mut settings = Vec::new();
    for (key, value) in table {
        let Some(setting) = find(&key) else {
            let mut error = wrong(format!("unknown setting `{key}`"));
            if let Some(meant) = similar(&key) {
                error.remedy = format!("Did you mean `{meant}`? {}", error.remedy);
            }
            return Err(error);
        };
        let text = text_of(setting.kind, &value)
            .ok_or_else(|| wrong(format!("`{key}` has the wrong type: {}", value.type_str())))?;
        settings.push((setting.name, text));
    }
    Ok(settings)
}

/// Converts a value to the text of the equivalent flag. Returns `None` if its type is wrong.
fn text_of(kind: Kind, value: &toml::Value) -> Option<String> {
    match (kind, value) {
        (Kind::Count, toml::Value::Integer(number)) => Some(number.to_string()),
        (Kind::Flag, toml::Value::Boolean(flag)) => Some(flag.to_string()),
        (Kind::Retention, toml::Value::Table(ages)) => {
            let items = ages.iter().map(|(status, age)| {
                let age = age.as_str()?;
                Some(format!("{status}={age}"))
            });
            let items: Option<Vec<String>> = items.collect();
            items.map(|items| items.join(","))
        }
        (
            Kind::Origins | Kind::Urls | Kind::Words(_) | Kind::Retention,
            toml::Value::Array(items),
        ) => {
            let texts: Option<Vec<&str>> = items.iter().map(toml::Value::as_str).collect();
            texts.map(|texts| texts.join(","))
        }
        (Kind::Ratio, toml::Value::Float(ratio)) => Some(ratio.to_string()),
        (Kind::Ratio, toml::Value::Integer(ratio)) => Some(ratio.to_string()),
        (Kind::Count | Kind::Flag | Kind::Ratio, _) => None,
        (_, value) => value.as_str().map(str::to_owned),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn parsed(text: &str) -> Result<Vec<(&'static str, String)>, UsageError> {
        parse(Path::new("everstep.toml"), text)
    }

    #[test]
    fn values_are_converted_to_text() {
        let text = "listen = '0.0.0.0:80'\nbehind_proxy = true\nwaiting_max = 7\norigins = ['https://a', 'https://b']\n\
                    [retention]\ncompleted = '30d'\nfailed = '1y'\n";
        let mut settings = parsed(text).unwrap();
        settings.sort_unstable();
        let expected = [
            ("behind_proxy", "true"),
            ("listen", "0.0.0.0:80"),
            ("origins", "https://a,https://b"),
            ("retention", "completed=30d,failed=1y"),
            ("waiting_max", "7"),
        ];
        assert_eq!(
            settings,
            expected.map(|(name, value)| (name, value.to_owned()))
        );
    }

    #[test]
    fn unknown_keys_and_wrong_types_are_rejected() {
        let unknown = parsed("lisen = 'x'").unwrap_err();
        assert_eq!(unknown.what, "everstep.toml: unknown setting `lisen`");
        assert!(unknown.remedy.starts_with("Did you mean `listen`?"));
        for wrong in [
            "listen = 4437",
            "waiting_max = '7'",
            "origins = [1]",
            "[serve]",
            "[retention]\ncompleted = 30",
            "listen =",
        ] {
            let error = parsed(wrong).unwrap_err();
            assert!(error.what.starts_with("everstep.toml: "), "{wrong}");
        }
    }
}
