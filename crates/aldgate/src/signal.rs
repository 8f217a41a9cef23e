//! When to stop.

use tokio::signal::unix::{Signal, SignalKind, signal};

/// Resolves at the first interrupt or termination signal. A second one ends the program at once.
pub(crate) async fn stop() {
    let (Ok(mut interrupt), Ok(mut terminate)) =
        (signal(SignalKind::interrupt()), signal(SignalKind::terminate()))
    else {
        tracing::error!("signals cannot be listened to; end the program with SIGKILL");
        return std::future::pending().await;
    };
    tokio::select! {
        _ = interrupt.recv() => {}
        _ = terminate.recv() => {}
    }
    tokio::spawn(async move {
        tokio::select! {
            _ = interrupt.recv() => {}
            _ = terminate.recv() => {}
        }
        note!("ended at once; calls that were under way are closed as unknown at the next start");
        std::process::exit(130);
    });
}

/// While this is kept, a file that would grow over the system's limit is a write that fails, as on a full disk, and not the end
/// of the program (setrlimit(2), `RLIMIT_FSIZE`).
pub(crate) fn file_size_exceeded() -> Option<Signal> {
    let raw = rustix::process::Signal::XFSZ.as_raw();
    signal(SignalKind::from_raw(raw)).ok()
}
