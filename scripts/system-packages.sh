# Installs packages of the system for the set-up scripts, which source this. Packages are installed only by root; else the
# script says what is missing and fails.

say() { printf '%s: %s\n' "$(basename "$0" .sh)" "$*"; }
fail() {
    say "$@" >&2
    exit 1
}

# system_packages WHY PACKAGE…
system_packages() {
    local why=$1
    shift
    if ((EUID != 0)) || ! command -v apt-get > /dev/null; then
        fail "$why; install it first, on Debian and Ubuntu with \`sudo apt-get install $*\`"
    fi
    say "$why; installing $*"
    apt-get update -qq
    DEBIAN_FRONTEND=noninteractive apt-get install -y -qq --no-install-recommends "$@"
}
