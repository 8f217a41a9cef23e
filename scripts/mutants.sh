#!/usr/bin/env bash
# Changes the code that compares and repairs contracts in small ways, one at a time, and says which changes no test
# notices. Those in scripts/mutants-accepted.txt are known, each with its reason; any other fails the run.
#
# MUTANTS_FILES="crates/contract/src/digest.rs …" looks at these files alone. What was found is in var/mutants.
set -euo pipefail
cd "$(dirname "$0")/.."

accepted="scripts/mutants-accepted.txt"
files="${MUTANTS_FILES:-crates/contract/src/canonical.rs crates/contract/src/digest.rs crates/contract/src/fields.rs
    crates/contract/src/diff.rs crates/contract/src/diff/**/*.rs
    crates/contract/src/repair.rs crates/contract/src/repair/**/*.rs}"

if ! cargo mutants --version > /dev/null 2>&1; then
    echo "Installing cargo-mutants; this takes some minutes."
    cargo install --locked cargo-mutants
fi

chosen=()
set -f
for file in $files; do
    chosen+=(--file "$file")
done
set +f

mkdir -p var/mutants
# Unit tests alone, few random cases and always the same: a change that only chance would notice is missed. A change that
# makes a loop endless is noticed by the time it takes.
export PROPTEST_CASES=32 PROPTEST_RNG_SEED=1
status=0
cargo mutants --package aldgate-contract "${chosen[@]}" --jobs 1 --minimum-test-timeout 60 --output var/mutants \
    --no-shuffle --colors never -- --lib || status=$?
case "$status" in
    0 | 2 | 3) ;;
    *) echo "cargo-mutants could not run (status $status)." >&2; exit 1 ;;
esac

scripts/mutants_missed.py var/mutants/mutants.out/missed.txt "$accepted"
