#!/usr/bin/env bash
# Sets up what the tests need beside Rust: strace, a browser, the packages of the TypeScript client, of an issuer and of a
# person at the browser, the Python client's environment, a collector for traces.
# What is there already is left as it is. Packages of the system are installed only by root; else the script says what
# is missing and fails.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."
source scripts/system-packages.sh

command -v strace > /dev/null || system_packages "strace is missing" strace

command -v chromium > /dev/null || command -v chromium-browser > /dev/null || command -v google-chrome > /dev/null ||
    system_packages "Chromium is missing" chromium

command -v node > /dev/null && command -v npm > /dev/null || fail "Node.js 20 or newer is missing; install node and npm"
node_major=$(node -p 'process.versions.node.split(".")[0]')
((node_major >= 20)) || fail "Node.js is $(node --version), the clients need 20 or newer"

command -v python3 > /dev/null || fail "Python 3.11 or newer is missing"
python3 -c 'import sys; sys.exit(sys.version_info < (3, 11))' ||
    fail "$(python3 --version) is too old, the clients need 3.11 or newer"

# stamp FILE…: what a set-up was made from
stamp() { cat "$@" | sha256sum | cut -d' ' -f1; }
# current STAMP_FILE EXPECTED
current() { [[ -f $1 && $(< "$1") == "$2" ]]; }

for packages in clients/typescript clients/issuer clients/browser; do
    wanted=$(stamp "$packages/package.json" "$packages/package-lock.json")
    if current "$packages/node_modules/.aldgate-stamp" "$wanted"; then
        say "the packages of $packages are there"
    else
        say "installing the packages of $packages"
        (cd "$packages" && npm ci --no-progress)
        printf '%s\n' "$wanted" > "$packages/node_modules/.aldgate-stamp"
    fi
done

environment=.venv
wanted=$({ python3 --version; cat clients/python/requirements.txt; } | sha256sum | cut -d' ' -f1)
if current "$environment/.aldgate-stamp" "$wanted"; then
    say "the Python client's environment is there"
else
    say "making the Python client's environment ($environment)"
    python3 -c 'import ensurepip, venv' 2> /dev/null || system_packages "Python's venv module is missing" python3-venv
    rm -rf "$environment"
    python3 -m venv "$environment"
    "$environment/bin/pip" install --quiet --disable-pip-version-check --no-deps -r clients/python/requirements.txt
    printf '%s\n' "$wanted" > "$environment/.aldgate-stamp"
fi

# The wheel is for Python 3.11, of which the program needs the library; any Python's pip can unpack it.
collector=.collector
wanted=$({ uname -m; cat scripts/collector.txt; } | sha256sum | cut -d' ' -f1)
if current "$collector/.aldgate-stamp" "$wanted"; then
    say "the collector is there"
else
    say "installing the collector ($collector)"
    rm -rf "$collector"
    "$environment/bin/pip" install --quiet --disable-pip-version-check --no-deps --target "$collector" \
        --only-binary=:all: --implementation cp --python-version 3.11 --abi cp311 --platform "manylinux_2_34_$(uname -m)" \
        -r scripts/collector.txt
    printf '%s\n' "$wanted" > "$collector/.aldgate-stamp"
fi
libraries=$(ldd "$collector/rotel/rotel-agent")
if [[ $libraries == *"libpython3.11"*"not found"* ]]; then
    system_packages "the collector needs the library of Python 3.11" libpython3.11
fi

say "done"
