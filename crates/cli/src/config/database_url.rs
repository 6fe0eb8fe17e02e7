//! Database URLs, and how to show them without passwords.

const HIDDEN: &str = "***";
/// URL parameters that contain a secret.
const SECRET_PARAMETERS: [&str; 2] = ["password", "sslpassword"];

/// Whether this is the URL of a supported database.
pub(crate) fn is_database_url(text: &str) -> bool {
    let known = ["postgres://", "postgresql://"];
    known.iter().any(|scheme| text.starts_with(scheme))
}

/// Replaces passwords in a database URL. Hides the whole text if it is not a database URL.
pub(crate) fn without_password(url: &str) -> String {
    let Some((scheme, rest)) = url.split_once("://").filter(|_| is_database_url(url)) else {
        return "(secret)".to_owned();
    };
    // Split at the last `@`, because a password may contain an unescaped one.
    let (user, host) = match rest.rsplit_once('@') {
        Some((user, host)) => match user.split_once(':') {
            Some((name, _)) => (format!("{name}:{HIDDEN}@"), host),
            None => (format!("{user}@"), host),
        },
        None => (String::new(), rest),
    };
    let Some((host, parameters)) = host.split_once('?') else {
        return format!("{scheme}://{user}{host}");
    };
    let parameters = parameters.split('&').map(|parameter| {
        let name = parameter.split('=').next().unwrap_or_default();
        match SECRET_PARAMETERS.contains(&name.to_lowercase().as_str()) {
            true => format!("{name}={HIDDEN}"),
            false => parameter.to_owned(),
        }
    });
    let parameters = parameters.collect::<Vec<_>>().join("&");
    format!("{scheme}://{user}{host}?{parameters}")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn passwords_are_replaced() {
        for (url, shown) in [
            ("postgres://db/app", "postgres://db/app"),
            ("postgres://ada@db/app", "postgres://ada@db/app"),
            (
                "postgres://ada:secret@db:5432/app?sslmode=require",
                "postgres://ada:***@db:5432/app?sslmode=require",
            ),
            (
                "postgresql://ada:se@cret/?x@db/app",
                "postgresql://ada:***@db/app",
            ),
            (
                "postgres://db/app?user=ada&password=secret",
                "postgres://db/app?user=ada&password=***",
            ),
            ("host=db password=secret", "(secret)"),
            ("", "(secret)"),
        ] {
            assert_eq!(without_password(url), shown, "{url}");
            assert!(!shown.contains("secret)") || !is_database_url(url));
        }
    }
}
