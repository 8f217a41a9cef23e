//! What is on the disk before a consequential call goes out, seen by the kernel.

use std::collections::HashMap;
use std::process::Command;

use crate::running::aldgate;

/// What the gateway's system calls did, in the order in which the kernel saw them.
#[derive(Debug, PartialEq)]
enum Seen {
    /// The write-ahead log of the gateway's store was written to.
    WalWritten,
    /// The log is on the disk. A sync covers what was written before it began.
    WalSynced { began_after: usize },
    /// The order went to the parts server.
    SentUpstream,
}

/// The gateway's own log: `strace -y` shows the path of a file behind its number.
const WAL: &str = "/gateway/aldgate.sqlite-wal>";

#[test]
fn a_redemption_is_on_the_disk_before_the_first_byte_goes_to_the_upstream() {
    let strace = Command::new("strace").arg("--version").output();
    assert!(strace.is_ok_and(|output| output.status.success()), "install `strace`; `make test` does");
    let folder = tempfile::tempdir().expect("a folder");
    let trace = folder.path().join("trace");
    let calls = "trace=fdatasync,fsync,pwrite64,pwritev,pwritev2,write,writev,sendto,sendmsg";
    let mut command = Command::new("strace");
    command
        .current_dir(crate::running::root())
        .args(["-f", "-y", "-s", "4096", "-e", calls, "-o"])
        .arg(&trace)
        .arg(aldgate().get_program());
    let output = command
        .args(["demo", "--once", "--json", "--approve", "--tickets", "400"])
        .args(["--listen", "127.0.0.1:0", "--admin-listen", "127.0.0.1:0"])
        .output()
        .expect("strace runs");
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));

    let seen = seen(&std::fs::read(&trace).expect("a trace"));
    let sent: Vec<_> = positions(&seen, |what| *what == Seen::SentUpstream);
    // The order goes out twice under one permit: the call, and the gateway's answer to the server's own confirmation.
    assert_eq!(sent.len(), 2, "{seen:?}");
    let before = &seen[..sent[0]];
    let written = positions(before, |what| *what == Seen::WalWritten);
    let last = *written.last().expect("the redemption is written to the log");
    let covered =
        before.iter().any(|what| matches!(what, Seen::WalSynced { began_after } if *began_after > last));
    assert!(covered, "the last write before the order was sent was not synced: {:?}", &before[last..]);
}

fn positions(seen: &[Seen], wanted: impl Fn(&Seen) -> bool) -> Vec<usize> {
    seen.iter().enumerate().filter(|(_, what)| wanted(what)).map(|(at, _)| at).collect()
}

/// Of each thread's system calls a sync counts when it has returned, a write and a send when they begin.
fn seen(trace: &[u8]) -> Vec<Seen> {
    let text = String::from_utf8_lossy(trace);
    let mut unfinished: HashMap<&str, usize> = HashMap::new();
    let mut seen = Vec::new();
    for line in text.lines() {
        let (thread, call) = line.split_once(' ').expect("a thread and a call");
        let call = call.trim_start();
        // The name of the call, and the file that it is on.
        let on_wal = call.split_once('(').is_some_and(|(_, rest)| {
            rest.split_once(['>']).is_some_and(|(file, _)| format!("{file}>").ends_with(WAL))
        });
        let is_sync = call.starts_with("fdatasync(") || call.starts_with("fsync(");
        if is_sync && on_wal {
            if call.ends_with("<unfinished ...>") {
                unfinished.insert(thread, seen.len());
            } else if call.ends_with("= 0") {
                seen.push(Seen::WalSynced { began_after: seen.len() });
            }
        } else if call.starts_with("<... fdatasync resumed>") || call.starts_with("<... fsync resumed>") {
            if let Some(began_after) = unfinished.remove(thread).filter(|_| call.ends_with("= 0")) {
                seen.push(Seen::WalSynced { began_after });
            }
        } else if on_wal {
            seen.push(Seen::WalWritten);
        } else if is_order_to_upstream(call) {
            seen.push(Seen::SentUpstream);
        }
    }
    seen
}

/// The gateway's own request to the parts server: it has the path of that server, which no client's request has.
fn is_order_to_upstream(call: &str) -> bool {
    call.contains("POST /parts/mcp") && call.contains("raise_parts_order")
}

#[test]
fn a_sync_covers_only_what_was_written_before_it_began() {
    let wal = "12</tmp/x/gateway/aldgate.sqlite-wal>";
    let trace = [
        format!("1 pwrite64({wal}, \"\\x37\", 24, 0) = 24"),
        format!("1 fdatasync({wal} <unfinished ...>"),
        format!("2 pwrite64({wal}, \"\"..., 24, 24 <unfinished ...>"),
        "2 <... pwrite64 resumed>) = 24".to_owned(),
        "1 <... fdatasync resumed>) = 0".to_owned(),
        "3 fdatasync(9</tmp/x/field-service/a.sqlite-wal>) = 0".to_owned(),
        format!("1 fdatasync({wal}) = 0"),
        "1 sendto(5<socket:[1]>, \"POST /parts/mcp … raise_parts_order\", 9, 0, NULL, 0) = 9".to_owned(),
    ];
    assert_eq!(
        seen(trace.join("\n").as_bytes()),
        [
            Seen::WalWritten,
            Seen::WalWritten,
            Seen::WalSynced { began_after: 1 },
            Seen::WalSynced { began_after: 3 },
            Seen::SentUpstream
        ]
    );
}
