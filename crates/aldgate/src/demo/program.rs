//! How this program is called in what a person is told to type.

#[cfg(test)]
mod tests;

use std::ffi::OsStr;
use std::path::Path;

use crate::out;

const NAME: &str = "aldgate";

/// What to type for this program: its name where that finds it, else its path.
pub(super) fn typed() -> String {
    match std::env::current_exe() {
        Ok(this) => typed_with(&this, &std::env::var_os("PATH").unwrap_or_default()),
        Err(_) => NAME.to_owned(),
    }
}

fn typed_with(this: &Path, path: &OsStr) -> String {
    let Ok(this) = this.canonicalize() else { return NAME.to_owned() };
    let first = std::env::split_paths(path).map(|folder| folder.join(NAME)).find(|file| file.is_file());
    if first.and_then(|file| file.canonicalize().ok()).is_some_and(|file| file == this) {
        return NAME.to_owned();
    }
    let shown = out::plain(&this.display().to_string());
    let bare = |letter: char| letter.is_ascii_alphanumeric() || "/._-+".contains(letter);
    if shown.chars().all(bare) { shown } else { format!("'{}'", shown.replace('\'', "'\\''")) }
}
