#!/usr/bin/env bash
# Sets up what `make bench` needs beside Rust and Python: nginx. What is there already is left as it is.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."
source scripts/system-packages.sh

# Debian keeps it out of the PATH of users.
PATH=$PATH:/usr/sbin:/usr/local/sbin
command -v nginx > /dev/null || system_packages "nginx is missing" nginx-light
