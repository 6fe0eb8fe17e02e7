//! The programs of PostgreSQL, and the user that runs them, because the server refuses to run as
//! root.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

/// The directory in which Debian installs one folder per version.
const VERSIONS: &str = "/usr/lib/postgresql";
/// The user of the server if the tests run as root.
const USER: &str = "postgres";

#[derive(Debug)]
pub(crate) struct Programs {
    /// `None` if the programs are on the search path.
    folder: Option<PathBuf>,
    as_root: bool,
}

impl Programs {
    /// Finds the programs of the newest installed version.
    pub(crate) fn find() -> Self {
        let folder = newest(Path::new(VERSIONS));
        let on_path = || succeeds(Command::new("pg_ctl").arg("--version"));
        assert!(
            folder.is_some() || on_path(),
            "PostgreSQL is not installed; `cargo xtask test --stage tools` installs it"
        );
        let id = Command::new("id")
            .arg("-u")
            .output()
            .expect("cannot run `id`");
        Self {
            folder,
            as_root: id.stdout.starts_with(b"0\n"),
        }
    }

    /// Creates an empty directory that belongs to the server.
    pub(crate) fn make_folder(&self, folder: &Path) {
        let _ = fs::remove_dir_all(folder);
        fs::create_dir_all(folder).expect("cannot create a folder");
        self.own(folder);
    }

    /// Changes the owner of a file to the server.
    pub(crate) fn own(&self, path: &Path) {
        if self.as_root {
            assert!(
                succeeds(Command::new("chown").arg(USER).arg(path)),
                "chown failed"
            );
        }
    }

    /// Runs a program, which must succeed.
    pub(crate) fn run(&self, program: &str, arguments: &[String]) {
        assert!(self.succeeds(program, arguments), "{program} failed");
    }

    pub(crate) fn succeeds(&self, program: &str, arguments: &[String]) -> bool {
        let line = self.line(program);
        let mut words = line.iter();
        let Some(first) = words.next() else {
            return false;
        };
        succeeds(Command::new(first).args(words).args(arguments))
    }

    /// Returns the beginning of a shell command that runs the program.
    pub(crate) fn shell_line(&self, program: &str) -> String {
        self.line(program).join(" ")
    }

    fn line(&self, program: &str) -> Vec<String> {
        match &self.folder {
            Some(folder) => self.line_of(&folder.join(program).display().to_string()),
            None => self.line_of(program),
        }
    }

    /// Returns the words that run a program as the server's user.
    pub(crate) fn line_of(&self, path: &str) -> Vec<String> {
        let mut words = Vec::new();
        if self.as_root {
            let user = format!("--reuid={USER}");
            let group = format!("--regid={USER}");
            words.extend([
                "setpriv".to_owned(),
                user,
                group,
                "--clear-groups".to_owned(),
            ]);
        }
        words.push(path.to_owned());
        words
    }
}

fn newest(versions: &Path) -> Option<PathBuf> {
    let folders = fs::read_dir(versions).ok()?;
    let numbered = folders.filter_map(|entry| {
        let path = entry.ok()?.path();
        let number: u32 = path.file_name()?.to_str()?.parse().ok()?;
        path.join("bin/pg_ctl").exists().then_some((number, path))
    });
    numbered.max().map(|(_, path)| path.join("bin"))
}

fn succeeds(command: &mut Command) -> bool {
    // Otherwise the server would keep our pipes open while it runs.
    command.stdin(Stdio::null()).stdout(Stdio::null());
    command.stderr(Stdio::null());
    command.status().is_ok_and(|status| status.success())
}
