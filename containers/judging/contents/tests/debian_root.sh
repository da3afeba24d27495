#!/bin/sh
# SPDX-License-Identifier: MIT
# usage: debian_root.sh SUITE ARCHITECTURE PACKAGE...: prints the folder with the files of Debian's packages, of any of its releases and
# architectures. They are unpacked once into the cache, and never installed. GPUCERT_CACHE and GPUCERT_DEBIAN_MIRROR as for make-dependencies.sh.
set -eu

mirror=${GPUCERT_DEBIAN_MIRROR:-http://deb.debian.org/debian}
cache=${GPUCERT_CACHE:-$([ "$(id -u)" -eq 0 ] && echo /var/cache/gpucert || echo "${HOME:?}/.cache/gpucert")}
root=$cache/debian-$(echo "$@" | tr ' ' -)
suite=$1
architecture=$2
shift 2

private_apt() {
	apt-get -q -o Dir::Etc::SourceList="$work/sources.list" -o Dir::Etc::SourceParts=/dev/null -o Dir::State::Lists="$work/lists" \
		-o Dir::State::status=/dev/null -o Dir::Cache="$work" -o APT::Sandbox::User=root -o APT::Architectures::="$architecture" "$@" >&2
}

if [ ! -d "$root" ]; then
	work=$(mktemp -d)
	trap 'rm -rf "$work"' EXIT
	mkdir -p "$work/lists/partial" "$work/archives/partial" "$cache"
	echo "deb [arch=$architecture signed-by=/usr/share/keyrings/debian-archive-keyring.gpg] $mirror $suite main" >"$work/sources.list"
	private_apt update
	for package; do
		(cd "$work" && private_apt download "$package:$architecture")
	done
	for package in "$work"/*.deb; do
		dpkg -x "$package" "$work/root"
	done
	mv "$work/root" "$root.$$"
	mv -T "$root.$$" "$root" 2>/dev/null || rm -rf "$root.$$" # another test was first
fi
echo "$root"
