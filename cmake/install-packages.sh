#!/bin/sh
# SPDX-License-Identifier: MIT
# usage: install-packages.sh all|test
# Installs the Debian packages of cmake/debian-packages.txt that are missing: as root with apt-get, else
# prints the command that does it and fails. Costs one dpkg-query when nothing is missing. As root it also
# makes /etc/hosts where a bootstrapped system has none: containerd copies it into every sandbox.
set -eu

kind=${1:?usage: install-packages.sh all|test}
list=$(dirname "$0")/debian-packages.txt

# A program that is there already (another vendor's build, say) counts as its package.
provided() {
	case $1 in
	nodejs) command -v node >/dev/null && command -v npm >/dev/null ;;
	*) return 1 ;;
	esac
}

if [ ! -e /etc/hosts ] && [ "$(id -u)" -eq 0 ]; then
	echo "Making /etc/hosts, which this system lacks and containerd needs" >&2
	printf '127.0.0.1\tlocalhost\n::1\tlocalhost ip6-localhost ip6-loopback\n' >/etc/hosts
fi

wanted=$(awk -v kind="$kind" '$1 == "all" || ($1 == "test" && kind == "test") { print $2 }' "$list")
# shellcheck disable=SC2086
present=$(dpkg-query -W -f='${db:Status-Status} ${Package}\n' $wanted 2>/dev/null | awk '$1 == "installed" { print $2 }')
missing=
for package in $wanted; do
	if ! printf '%s\n' "$present" | grep -qx "$package" && ! provided "$package"; then
		[ "$package" = nodejs ] && package="nodejs npm"
		missing="$missing $package"
	fi
done
[ -z "$missing" ] && exit 0

if [ "$(id -u)" -ne 0 ]; then
	echo "These packages are missing. Install them with:" >&2
	echo "  sudo apt-get install --no-install-recommends$missing" >&2
	exit 3
fi
echo "Installing:$missing" >&2
log=$(mktemp)
trap 'rm -f "$log"' EXIT
export DEBIAN_FRONTEND=noninteractive
# shellcheck disable=SC2086
if ! { apt-get update && apt-get install -y --no-install-recommends $missing; } >"$log" 2>&1; then
	tail -n 20 "$log" >&2
	echo "The packages could not be installed; the lines above say why." >&2
	exit 3
fi
