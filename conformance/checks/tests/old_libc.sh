#!/bin/sh
# SPDX-License-Identifier: MIT
# old_libc.sh: prints the folder with the C library of Debian 11 (glibc 2.31), which is older than what programs built here ask for. Unpacked
# once into the cache, never installed. GPUCERT_CACHE and GPUCERT_DEBIAN_MIRROR as for make-dependencies.sh.
set -eu

mirror=${GPUCERT_DEBIAN_MIRROR:-http://deb.debian.org/debian}
cache=${GPUCERT_CACHE:-$([ "$(id -u)" -eq 0 ] && echo /var/cache/gpucert || echo "${HOME:?}/.cache/gpucert")}
root=$cache/libc-debian-11

private_apt() {
	apt-get -q -o Dir::Etc::SourceList="$work/sources.list" -o Dir::Etc::SourceParts=/dev/null -o Dir::State::Lists="$work/lists" \
		-o Dir::State::status=/dev/null -o Dir::Cache="$work" -o APT::Sandbox::User=root "$@" >&2
}

if [ ! -d "$root" ]; then
	work=$(mktemp -d)
	trap 'rm -rf "$work"' EXIT
	mkdir -p "$work/lists/partial" "$work/archives/partial" "$cache"
	echo "deb [signed-by=/usr/share/keyrings/debian-archive-keyring.gpg] $mirror bullseye main" >"$work/sources.list"
	private_apt update
	(cd "$work" && private_apt download libc6)
	dpkg -x "$work"/libc6_*.deb "$work/root"
	mv "$work/root" "$root.$$"
	mv -T "$root.$$" "$root" 2>/dev/null || rm -rf "$root.$$" # another test was first
fi
echo "$root"
