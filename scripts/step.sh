#!/usr/bin/env bash
# Runs one step of a check: says its name, runs it, says how long it took.
# Usage: scripts/step.sh NAME COMMAND [ARGUMENT…]
set -euo pipefail
name=$1
shift
printf -- '-- %s\n' "$name"
begun=$SECONDS
status=0
"$@" || status=$?
if ((status)); then
    printf -- '-- FAILED: %s (exit code %s, %s s)\n' "$name" "$status" "$((SECONDS - begun))" >&2
    exit "$status"
fi
printf -- '-- ok: %s (%s s)\n' "$name" "$((SECONDS - begun))"
