//! `everstep.toml`: the keys that are known, as texts. One that is not known is refused.

use std::path::Path;

use super::settings::{Kind, find, similar};
use crate::ending::UsageError;

/// The settings of a file's text.
pub(crate) fn read(path: &Path, text: &str) -> Result<Vec<(&'static str, String)>, UsageError> {
    let wrong = |what: String| UsageError {
        what: format!("{}: {what}", path.display()),
        remedy: "`everstep config` shows every setting there is.".to_owned(),
    };
    let table: toml::Table = text
        .parse()
        .map_err(|error: toml::de::Error| wrong(error.to_string().trim_end().to_owned()))?;
    let mut settings = Vec::new();
    for (key, value) in table {
        let Some(setting) = find(&key) else {
            let mut refused = wrong(format!("there is no setting `{key}`"));
            if let Some(meant) = similar(&key) {
                refused.remedy = format!("Did you mean `{meant}`? {}", refused.remedy);
            }
            return Err(refused);
        };
        let text = text_of(setting.kind, &value);
        let text = text.ok_or_else(|| {
            let type_of = value.type_str();
            wrong(format!("`{key}` cannot be of the type {type_of}"))
        })?;
        settings.push((setting.name, text));
    }
    Ok(settings)
}

/// A value as the text that a flag would have; none if no flag could.
fn text_of(kind: Kind, value: &toml::Value) -> Option<String> {
    match (kind, value) {
        (Kind::Count, toml::Value::Integer(number)) => Some(number.to_string()),
        (Kind::Flag, toml::Value::Boolean(flag)) => Some(flag.to_string()),
        (Kind::List | Kind::Words(_), toml::Value::Array(items)) => {
            let texts: Option<Vec<&str>> = items.iter().map(toml::Value::as_str).collect();
            texts.map(|texts| texts.join(","))
        }
        (Kind::Share, toml::Value::Float(share)) => Some(share.to_string()),
        (Kind::Share, toml::Value::Integer(share)) => Some(share.to_string()),
        (Kind::Count | Kind::Flag | Kind::Share, _) => None,
        (_, toml::Value::String(text)) => Some(text.clone()),
        (_, _) => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn of(text: &str) -> Result<Vec<(&'static str, String)>, UsageError> {
        read(Path::new("everstep.toml"), text)
    }

    #[test]
    fn values_are_what_their_setting_is() {
        let text = "listen = '0.0.0.0:80'\nbehind_proxy = true\nwaiting_max = 7\norigins = ['https://a', 'https://b']\n";
        let mut read = of(text).unwrap();
        read.sort_unstable();
        let expected = [
            ("behind_proxy", "true"),
            ("listen", "0.0.0.0:80"),
            ("origins", "https://a,https://b"),
            ("waiting_max", "7"),
        ];
        assert_eq!(read, expected.map(|(name, value)| (name, value.to_owned())));
    }

    #[test]
    fn what_is_not_known_or_not_fitting_is_refused() {
        let unknown = of("lisen = 'x'").unwrap_err();
        assert_eq!(unknown.what, "everstep.toml: there is no setting `lisen`");
        assert!(unknown.remedy.starts_with("Did you mean `listen`?"));
        for wrong in [
            "listen = 4437",
            "waiting_max = '7'",
            "origins = [1]",
            "[serve]",
            "listen =",
        ] {
            let refused = of(wrong).unwrap_err();
            assert!(refused.what.starts_with("everstep.toml: "), "{wrong}");
        }
    }
}
