//! What is on the disk before a consequential call goes out, seen by the kernel.

use std::collections::HashMap;
use std::process::Command;

use crate::running::aldgate;

#[derive(Debug, PartialEq)]
enum Seen {
    Synced,
    SentUpstream,
}

#[test]
fn a_redemption_is_on_the_disk_before_the_first_byte_goes_to_the_upstream() {
    let strace = Command::new("strace").arg("--version").output();
    assert!(strace.is_ok_and(|output| output.status.success()), "install `strace`; `make test` does");
    let folder = tempfile::tempdir().expect("a folder");
    let trace = folder.path().join("trace");
    let mut command = Command::new("strace");
    command
        .current_dir(crate::running::root())
        .args(["-f", "-y", "-s", "4096", "-e", "trace=fdatasync,fsync,sendto,write,writev,sendmsg", "-o"])
        .arg(&trace)
        .arg(aldgate().get_program());
    let output = command
        .args(["demo", "--once", "--json", "--approve", "--tickets", "400"])
        .args(["--listen", "127.0.0.1:0", "--admin-listen", "127.0.0.1:0"])
        .output()
        .expect("strace runs");
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));

    // Of each thread's system calls only the finished ones count: a sync when it returns, a send when it begins.
    let text = std::fs::read_to_string(&trace).expect("a trace");
    let mut unfinished: HashMap<&str, bool> = HashMap::new();
    let mut seen = Vec::new();
    for line in text.lines() {
        let (thread, call) = line.split_once(' ').expect("a thread and a call");
        let call = call.trim_start();
        let store = call.contains("/gateway/aldgate.sqlite");
        if call.starts_with("fdatasync") || call.starts_with("fsync") {
            if call.ends_with("<unfinished ...>") {
                unfinished.insert(thread, store);
            } else if store && call.ends_with("= 0") {
                seen.push(Seen::Synced);
            }
        } else if (call.starts_with("<... fdatasync resumed>") || call.starts_with("<... fsync resumed>"))
            && call.ends_with("= 0")
            && unfinished.remove(thread) == Some(true)
        {
            seen.push(Seen::Synced);
        } else if is_order_to_upstream(call) {
            seen.push(Seen::SentUpstream);
        }
    }
    let sent: Vec<_> =
        seen.iter().enumerate().filter(|(_, what)| **what == Seen::SentUpstream).map(|(at, _)| at).collect();
    // The order goes out twice under one permit: the call, and the gateway's answer to the server's own confirmation.
    assert_eq!(sent.len(), 2, "{seen:?}");
    // Asked for, decided, redeemed with its intent: three transactions, each synced, before the first byte.
    let before = seen[..sent[0]].iter().filter(|what| **what == Seen::Synced).count();
    assert!(before >= 3, "{seen:?}");
    assert_eq!(seen[sent[0] - 1], Seen::Synced, "{seen:?}");
}

/// The gateway's own request to the parts server: it has the path of that server, which no client's request has.
fn is_order_to_upstream(call: &str) -> bool {
    call.contains("POST /parts/mcp") && call.contains("raise_parts_order")
}
