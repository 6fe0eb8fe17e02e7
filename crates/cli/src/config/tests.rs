//! Precedence and validation of settings.

use super::*;

fn environment(variables: &[(&str, &str)], file: Option<PathBuf>) -> Environment {
    let variables = variables.iter();
    let variables = variables.map(|(name, value)| ((*name).to_owned(), (*value).into()));
    Environment {
        variables: variables.collect(),
        file,
    }
}

fn config_file(text: &str) -> (tempfile::TempDir, PathBuf) {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("test.toml");
    std::fs::write(&path, text).unwrap();
    (folder, path)
}

#[test]
fn flags_override_variables_override_the_file_override_defaults() {
    let (_folder, path) = config_file("data = 'file'\nlisten = '127.0.0.1:1'\nserver = 'file'\n");
    let variables = [
        ("EVERSTEP_DATA", "environment"),
        ("EVERSTEP_LISTEN", "127.0.0.1:2"),
    ];
    let flags = vec![("data", Some("flag".into())), ("listen", None)];
    let config = Config::resolve(flags, &environment(&variables, Some(path.clone()))).unwrap();
    let origin_of = |name| {
        let (value, origin) = config.value_and_origin(name).unwrap();
        (value.to_str().unwrap(), origin)
    };
    assert_eq!(
        origin_of("data"),
        ("flag", &Origin::Flag("--data".to_owned()))
    );
    let variable = Origin::Environment("EVERSTEP_LISTEN".to_owned());
    assert_eq!(origin_of("listen"), ("127.0.0.1:2", &variable));
    assert_eq!(origin_of("server"), ("file", &Origin::File(path)));
    assert_eq!(origin_of("stall_timeout"), ("30s", &Origin::Default));
    assert_eq!(config.value_and_origin("key"), None);
}

#[test]
fn an_invalid_value_is_reported_with_its_origin() {
    for (variables, expected) in [
        (
            [("EVERSTEP_LISTEN", "here")],
            "invalid value here for `listen` (from EVERSTEP_LISTEN)",
        ),
        (
            [("EVERSTEP_WAITING_MAX", "0")],
            "invalid value 0 for `waiting_max`",
        ),
        (
            [("EVERSTEP_BODY_TIMEOUT", "soon")],
            "invalid value soon for `body_timeout`",
        ),
        ([("EVERSTEP_BEHIND_PROXY", "yes")], "`true` or `false`"),
        ([("EVERSTEP_KEY", "")], "invalid value (secret) for `key`"),
    ] {
        let error = Config::resolve(Vec::new(), &environment(&variables, None)).unwrap_err();
        assert!(error.is::<UsageError>());
        assert!(error.to_string().contains(expected), "{error}");
    }
}

// B561
#[test]
fn every_unknown_variable_is_rejected() {
    for (variable, value, suggestion) in [
        (
            "EVERSTEP_LISTENS",
            "127.0.0.1:1",
            "Did you mean EVERSTEP_LISTEN? ",
        ),
        ("EVERSTEP_LOG_LEVEL", "info", "Did you mean EVERSTEP_LOG? "),
        ("EVERSTEP_PORT", "4438", ""),
        ("EVERSTEP_PROT", "4438", ""),
        ("EVERSTEP_", "", ""),
    ] {
        let unknown = environment(&[(variable, value)], None);
        let error = Config::resolve(Vec::new(), &unknown).unwrap_err();
        assert!(error.to_string().ends_with(variable), "{error}");
        let remedy = &error.downcast_ref::<UsageError>().unwrap().remedy;
        let expected = format!("{suggestion}`everstep config` lists all settings.");
        assert_eq!(*remedy, expected);
    }
}

// B561
#[test]
fn variables_that_kubernetes_sets_for_a_service_are_ignored() {
    let links = [
        ("EVERSTEP_SERVICE_HOST", "10.0.0.1"),
        ("EVERSTEP_SERVICE_PORT", "4437"),
        ("EVERSTEP_PORT", "tcp://10.0.0.1:4437"),
        ("EVERSTEP_PORT_4437_TCP_ADDR", "10.0.0.1"),
    ];
    assert!(Config::resolve(Vec::new(), &environment(&links, None)).is_ok());
}

#[test]
fn a_configuration_file_that_is_named_must_exist() {
    let missing = environment(&[("EVERSTEP_CONFIG", "/nowhere/everstep.toml")], None);
    let error = Config::resolve(Vec::new(), &missing).unwrap_err();
    assert!(
        error.to_string().contains("/nowhere/everstep.toml"),
        "{error}"
    );
}

#[cfg(unix)]
#[test]
fn only_paths_may_have_values_that_are_not_utf8() {
    use std::os::unix::ffi::OsStringExt;

    let value = OsString::from_vec(b"data-\xff".to_vec());
    let flags = |name| vec![(name, Some(value.clone()))];
    let config = Config::resolve(flags("data"), &environment(&[], None)).unwrap();
    assert_eq!(config.path("data"), Some(PathBuf::from(value.clone())));
    let error = Config::resolve(flags("listen"), &environment(&[], None)).unwrap_err();
    assert!(error.to_string().contains("it must be UTF-8"), "{error}");
}
