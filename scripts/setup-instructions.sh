#!/usr/bin/env bash
# Sets up what counting instructions needs beside Rust and Python: valgrind, and the runner of gungraun in the version of the
# library. What is there already is left as it is.
# Usage: scripts/setup-instructions.sh FOLDER, in whose bin/ the runner is put
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."
source scripts/system-packages.sh

folder=$1
version=$(sed -n '/^name = "gungraun"$/{n;s/version = "\(.*\)"/\1/p}' Cargo.lock)
[[ -n $version ]] || fail "Cargo.lock does not say which gungraun is used"

command -v valgrind > /dev/null || system_packages "valgrind is missing" valgrind

if [[ $("$folder/bin/gungraun-runner" --version 2> /dev/null) != *" $version" ]]; then
    say "installing gungraun-runner $version"
    # It starts valgrind and reads what that wrote: how fast it is does not matter, and a debug build takes a third of the time.
    cargo install --quiet --locked --debug --version "$version" --root "$folder" gungraun-runner
fi
