//! Who wins, and what is refused.

use super::*;

fn around(variables: &[(&str, &str)], file: Option<PathBuf>) -> Surroundings {
    let variables = variables.iter();
    let variables = variables.map(|(name, value)| ((*name).to_owned(), (*value).to_owned()));
    Surroundings {
        variables: variables.collect(),
        file,
    }
}

fn written(text: &str) -> (tempfile::TempDir, PathBuf) {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("it.toml");
    std::fs::write(&path, text).unwrap();
    (folder, path)
}

#[test]
fn flags_come_before_the_environment_before_the_file_before_defaults() {
    let (_folder, path) = written("data = 'file'\nlisten = '127.0.0.1:1'\nserver = 'file'\n");
    let variables = [
        ("EVERSTEP_DATA", "environment"),
        ("EVERSTEP_LISTEN", "127.0.0.1:2"),
    ];
    let flags = vec![("data", Some("flag".to_owned())), ("listen", None)];
    let config = Config::resolve(flags, &around(&variables, Some(path.clone()))).unwrap();
    let origin_of = |name| config.known(name).unwrap();
    assert_eq!(
        origin_of("data"),
        ("flag", &Origin::Flag("--data".to_owned()))
    );
    let variable = Origin::Environment("EVERSTEP_LISTEN".to_owned());
    assert_eq!(origin_of("listen"), ("127.0.0.1:2", &variable));
    assert_eq!(origin_of("server"), ("file", &Origin::File(path)));
    assert_eq!(origin_of("stall_timeout"), ("30s", &Origin::Default));
    assert_eq!(config.known("key"), None);
}

#[test]
fn a_value_that_does_not_fit_names_who_said_it() {
    for (variables, expected) in [
        (
            [("EVERSTEP_LISTEN", "here")],
            "`listen` is here, says EVERSTEP_LISTEN",
        ),
        ([("EVERSTEP_WAITING_MAX", "0")], "`waiting_max` is 0"),
        (
            [("EVERSTEP_BODY_TIMEOUT", "soon")],
            "`body_timeout` is soon",
        ),
        ([("EVERSTEP_BEHIND_PROXY", "yes")], "`true` or `false`"),
        ([("EVERSTEP_KEY", "")], "`key` is (a secret)"),
    ] {
        let error = Config::resolve(Vec::new(), &around(&variables, None)).unwrap_err();
        assert!(error.is::<UsageError>());
        assert!(error.to_string().contains(expected), "{error}");
    }
}

#[test]
fn a_variable_that_is_almost_one_is_refused_and_a_foreign_one_is_not() {
    let typed = around(&[("EVERSTEP_LISTENS", "127.0.0.1:1")], None);
    let error = Config::resolve(Vec::new(), &typed).unwrap_err();
    let usage = error.downcast_ref::<UsageError>().unwrap();
    assert!(usage.remedy.starts_with("Did you mean EVERSTEP_LISTEN?"));
    // What a cluster puts there for a service of that name.
    let foreign = [
        ("EVERSTEP_SERVICE_HOST", "10.0.0.1"),
        ("EVERSTEP_PORT", "tcp://10.0.0.1:80"),
    ];
    assert!(Config::resolve(Vec::new(), &around(&foreign, None)).is_ok());
}

#[test]
fn a_file_that_is_named_must_be_there() {
    let missing = around(&[("EVERSTEP_CONFIG", "/nowhere/everstep.toml")], None);
    let error = Config::resolve(Vec::new(), &missing).unwrap_err();
    assert!(
        error.to_string().contains("/nowhere/everstep.toml"),
        "{error}"
    );
}
