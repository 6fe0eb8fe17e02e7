//! Python packages at pinned versions, installed in cargo's target folder.

use std::fs;
use std::path::PathBuf;

use crate::failure::Failure;
use crate::process::Invocation;
use crate::served::unusable;
use crate::workspace::{self, target};

/// Installs what `requirements.txt` in a folder of `conformance` names whenever it changes. Returns
/// the folder of its programs.
pub(crate) fn install(name: &str) -> Result<PathBuf, Failure> {
    let pins = workspace::root()
        .join("conformance")
        .join(name)
        .join("requirements.txt");
    let folder = target().join("conformance").join(name);
    let (installed, programs) = (folder.join("installed.txt"), folder.join("bin"));
    let wanted = fs::read_to_string(&pins).map_err(|error| unusable(&pins, &error))?;
    if fs::read_to_string(&installed).is_ok_and(|known| known == wanted) {
        return Ok(programs);
    }
    let path = folder.display().to_string();
    Invocation::new("python3", &["-m", "venv", "--clear", &path]).run()?;
    let pip = programs.join("pip").display().to_string();
    let pins = pins.display().to_string();
    let arguments = ["install", "--quiet", "--no-deps", "--requirement", &pins];
    Invocation::new(&pip, &arguments).run()?;
    fs::write(&installed, wanted).map_err(|error| unusable(&installed, &error))?;
    Ok(programs)
}
