//! The address of a database, as people may see it: without its password.

/// What stands for a password.
const HIDDEN: &str = "***";
/// Parameters of an address that are secrets.
const SECRETS: [&str; 2] = ["password", "sslpassword"];

/// Whether it is the address of a database that can be a store.
pub(crate) fn is_database(text: &str) -> bool {
    let known = ["postgres://", "postgresql://"];
    known.iter().any(|scheme| text.starts_with(scheme))
}

/// The address without what nobody should read. What cannot be understood is not shown at all.
pub(crate) fn without_password(url: &str) -> String {
    let Some((scheme, rest)) = url.split_once("://").filter(|_| is_database(url)) else {
        return "(a secret)".to_owned();
    };
    // Up to the last `@`: a password may hold anything that its writer forgot to escape.
    let (user, place) = match rest.rsplit_once('@') {
        Some((user, place)) => (Some(user), place),
        None => (None, rest),
    };
    let user = user.map(|user| match user.split_once(':') {
        Some((name, _)) => format!("{name}:{HIDDEN}@"),
        None => format!("{user}@"),
    });
    let (place, parameters) = match place.split_once('?') {
        Some((place, parameters)) => (place, Some(parameters)),
        None => (place, None),
    };
    let parameters = parameters.map(|parameters| {
        let each = parameters.split('&').map(|parameter| {
            let name = parameter.split('=').next().unwrap_or_default();
            match SECRETS.contains(&name.to_lowercase().as_str()) {
                true => format!("{name}={HIDDEN}"),
                false => parameter.to_owned(),
            }
        });
        format!("?{}", each.collect::<Vec<_>>().join("&"))
    });
    let (user, parameters) = (user.unwrap_or_default(), parameters.unwrap_or_default());
    format!("{scheme}://{user}{place}{parameters}")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn no_part_of_a_password_is_shown() {
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
            ("host=db password=secret", "(a secret)"),
            ("", "(a secret)"),
        ] {
            assert_eq!(without_password(url), shown, "{url}");
            assert!(!shown.contains("secret)") || !is_database(url));
        }
    }
}
