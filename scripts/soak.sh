#!/usr/bin/env bash
# Lets a fuzzer look for inputs that break the laws in fuzz/targets, each for SOAK_SECONDS.
#
# Inputs that it keeps go to var/soak; fuzz/corpus holds the seeds, which are read and not changed. A broken law ends the
# run, names the input, and leaves it in fuzz/artifacts.
set -euo pipefail
cd "$(dirname "$0")/.."

seconds="${SOAK_SECONDS:-60}"

if ! cargo fuzz --version > /dev/null 2>&1; then
    echo "Installing cargo-fuzz; this takes some minutes."
    cargo install --locked cargo-fuzz
fi

# The fuzzer's instrumentation is not stable. Where there is no nightly compiler, the stable one is told to have it.
if rustup toolchain list 2> /dev/null | grep -q '^nightly'; then
    fuzz=(cargo +nightly fuzz)
else
    export RUSTC_BOOTSTRAP=1
    fuzz=(cargo fuzz)
fi

for target in guard header request response sse; do
    found="var/soak/$target"
    mkdir -p "$found"
    echo "== $target, $seconds s =="
    # Nothing here is unsafe, so that a sanitizer of memory would find nothing and take most of the time.
    "${fuzz[@]}" run --sanitizer none "$target" "$found" "fuzz/corpus/$target" -- \
        -max_total_time="$seconds" -max_len=4096 -dict=fuzz/dictionary -timeout=10 -verbosity=0 -print_final_stats=1
done
echo "No law was broken."
