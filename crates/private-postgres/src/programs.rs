//! The programs of PostgreSQL, and the user they run as: its server refuses to run as root.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

/// Where Debian puts one folder per version.
const VERSIONS: &str = "/usr/lib/postgresql";
/// Whose the server is where tests run as root.
const USER: &str = "postgres";

#[derive(Debug)]
pub(crate) struct Programs {
    /// None where they are on the path.
    folder: Option<PathBuf>,
    as_root: bool,
}

impl Programs {
    /// Those of the newest version there is.
    pub(crate) fn find() -> Self {
        let folder = newest(Path::new(VERSIONS));
        let on_path = || succeeds(Command::new("pg_ctl").arg("--version"));
        assert!(
            folder.is_some() || on_path(),
            "PostgreSQL is not installed; `cargo xtask test --stage tools` installs it"
        );
        let id = Command::new("id").arg("-u").output().expect("id");
        Self {
            folder,
            as_root: id.stdout.starts_with(b"0\n"),
        }
    }

    /// Makes an empty folder that is the server's.
    pub(crate) fn make_folder(&self, folder: &Path) {
        let _ = fs::remove_dir_all(folder);
        fs::create_dir_all(folder).expect("a temporary folder");
        self.own(folder);
    }

    /// Gives a file to the server.
    pub(crate) fn own(&self, path: &Path) {
        if self.as_root {
            assert!(succeeds(Command::new("chown").arg(USER).arg(path)), "chown");
        }
    }

    /// Runs a program to its end, which must be a good one.
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

    /// The beginning of a shell's line that runs the program.
    pub(crate) fn shell_line(&self, program: &str) -> String {
        self.line(program).join(" ")
    }

    fn line(&self, program: &str) -> Vec<String> {
        match &self.folder {
            Some(folder) => self.line_of(&folder.join(program).display().to_string()),
            None => self.line_of(program),
        }
    }

    /// The words that run a program as the server's user.
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
    // The server would keep our pipes open for as long as it runs.
    command.stdin(Stdio::null()).stdout(Stdio::null());
    command.stderr(Stdio::null());
    command.status().is_ok_and(|status| status.success())
}
