//! Opens a page in the person's browser.

#[cfg(test)]
mod tests;

use std::process::{Command, Stdio};

use url::Url;

/// Whether a program to open pages was started. No shell reads the URL, and only `http` and `https` are opened: another
/// scheme could start any program.
pub(super) fn open(url: &Url) -> bool {
    if !matches!(url.scheme(), "http" | "https") {
        return false;
    }
    let program = if cfg!(target_os = "macos") { "open" } else { "xdg-open" };
    let started = Command::new(program)
        .arg(url.as_str())
        .stdin(Stdio::null())
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .spawn();
    let Ok(mut child) = started else { return false };
    // Some of these programs run as long as the browser does: nobody waits for them, but their end is taken note of.
    std::thread::Builder::new().name("browser".to_owned()).spawn(move || child.wait()).is_ok()
}
