//! A client command that runs in a terminal.

use std::ffi::OsStr;
use std::fs::{File, OpenOptions};
use std::io::{Read, Write};
use std::os::unix::ffi::OsStrExt;
use std::process::Child;

use rustix::pty::{OpenptFlags, grantpt, openpt, ptsname, unlockpt};

use crate::command;
use crate::server::Server;

/// A running command. Killed when dropped.
pub(crate) struct Terminal {
    keyboard_and_screen: File,
    child: Child,
    shown: String,
}

impl Terminal {
    pub(crate) fn start(server: &Server, arguments: &[&str]) -> Self {
        let controller = openpt(OpenptFlags::RDWR | OpenptFlags::NOCTTY).unwrap();
        grantpt(&controller).unwrap();
        unlockpt(&controller).unwrap();
        let name = ptsname(&controller, Vec::new()).unwrap();
        let path = OsStr::from_bytes(name.as_bytes());
        let terminal = OpenOptions::new().read(true).write(true).open(path);
        let terminal = || terminal.as_ref().unwrap().try_clone().unwrap();
        let mut command = command(arguments);
        command
            .env("EVERSTEP_SERVER", &server.url)
            .env("TERM", "xterm");
        command
            .stdin(terminal())
            .stdout(terminal())
            .stderr(terminal());
        Self {
            keyboard_and_screen: controller.into(),
            child: command.spawn().unwrap(),
            shown: String::new(),
        }
    }

    /// Waits until the screen has shown this text.
    pub(crate) fn until(&mut self, text: &str) {
        while !self.shown.contains(text) {
            assert!(self.read(), "`{text}` is missing in {:?}", self.shown);
        }
    }

    pub(crate) fn type_line(&mut self, line: &str) {
        writeln!(self.keyboard_and_screen, "{line}").unwrap();
    }

    /// Waits for the end of the command. Returns what the screen has shown, and the exit code.
    pub(crate) fn end(mut self) -> (String, Option<i32>) {
        while self.read() {}
        let code = self.child.wait().unwrap().code();
        (std::mem::take(&mut self.shown), code)
    }

    /// Reads more output. Returns `false` at its end, which is an error on Linux.
    fn read(&mut self) -> bool {
        let mut buffer = [0; 4_096];
        let count = self.keyboard_and_screen.read(&mut buffer).unwrap_or(0);
        let text = String::from_utf8_lossy(&buffer[..count]);
        self.shown.push_str(&text);
        count > 0
    }
}

impl Drop for Terminal {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}
