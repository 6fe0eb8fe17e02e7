//! `everstep open`: shows a run as a page in the browser.
//!
//! The page is a file on this machine, so the browser needs no key.

mod page;

use std::fs::OpenOptions;
use std::io::Write;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::SystemTime;

use anyhow::Context as _;
use clap::Args;
use serde_json::json;

use super::pages::TimelinePages;
use crate::arguments::values;
use crate::context::Context;
use crate::exit::Exit;
use crate::runs;
use crate::timeline::ServerLine;

const EXAMPLES: &str = "\
Examples:
  everstep open order-7
  BROWSER=firefox everstep open order-7@1

The page shows the run at this moment. It is a file in the directory for temporary files.";

#[derive(Args, Debug)]
#[command(after_help = EXAMPLES)]
pub(crate) struct Open {
    /// ID of the run, or of one of its generations, such as order-7@1
    #[arg(value_parser = values::run)]
    run: String,
}

pub(crate) async fn run(arguments: &Open, context: &Context) -> anyhow::Result<Exit> {
    let run = runs::get(context, &arguments.run).await?;
    let mut pages = TimelinePages::of(&arguments.run, 0);
    let mut lines: Vec<ServerLine> = Vec::new();
    while let Some(page) = pages.next(context, false).await? {
        for line in page {
            lines.push(serde_json::from_str(line.get())?);
        }
    }
    let file = write(&page::render(&run, &lines), run.id.as_str())?;
    show(&file)?;
    let file = file.display().to_string();
    context.out.result(&json!({"file": file}), &file)
}

/// Writes the page to a new file that only this user can read.
fn write(page: &str, id: &str) -> anyhow::Result<PathBuf> {
    let now = SystemTime::UNIX_EPOCH.elapsed().unwrap_or_default();
    let name = format!("everstep-{}-{}.html", id.replace(':', "_"), now.as_nanos());
    let path = std::env::temp_dir().join(name);
    let mut options = OpenOptions::new();
    options.write(true).create_new(true);
    #[cfg(unix)]
    std::os::unix::fs::OpenOptionsExt::mode(&mut options, 0o600);
    let file = options.open(&path);
    let mut file = file.with_context(|| format!("cannot create {}", path.display()))?;
    file.write_all(page.as_bytes())?;
    Ok(path)
}

/// Opens a file with the browser of the variable `BROWSER`, or the default one.
fn show(file: &Path) -> anyhow::Result<()> {
    let mut command = match std::env::var_os("BROWSER") {
        Some(browser) if !browser.is_empty() => Command::new(browser),
        _ if cfg!(target_os = "macos") => Command::new("open"),
        _ if cfg!(windows) => Command::new("explorer"),
        _ => Command::new("xdg-open"),
    };
    let program = command.get_program().to_string_lossy().into_owned();
    let status = command.arg(file).status();
    let failed = || {
        let file = file.display();
        format!(
            "cannot start the browser ({program}); the page is {file}, and BROWSER chooses a program"
        )
    };
    let status = status.with_context(failed)?;
    // The explorer of Windows reports a failure even if it opened the file.
    anyhow::ensure!(status.success() || cfg!(windows), failed());
    Ok(())
}
