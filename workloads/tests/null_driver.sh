#!/bin/sh
# SPDX-License-Identifier: MIT
# null_driver.sh PROBE: the null driver of Level Zero answers success to every call and does nothing; probe-levelzero must not
# take that for work. The driver is made once from the source package of the installed loader, and kept in the cache; where
# neither can be had the test is skipped (77), and the double of the same kind in test_levelzero remains.
# GPUCERT_CACHE and GPUCERT_DEBIAN_MIRROR as for make-dependencies.sh.
set -eu

probe=$1
mirror=${GPUCERT_DEBIAN_MIRROR:-http://deb.debian.org/debian}
cache=${GPUCERT_CACHE:-$([ "$(id -u)" -eq 0 ] && echo /var/cache/gpucert || echo "${HOME:?}/.cache/gpucert")}

skip() {
	echo "skipped: $*"
	exit 77
}

version=$(dpkg-query -W -f='${source:Version}' libze1 2>/dev/null) || skip "the loader's package libze1 is not installed"
release=$(sed -n 's/^VERSION_CODENAME=//p' /etc/os-release)
driver=$cache/ze-null-$version/libze_null.so.1

private_apt() {
	apt-get -q -o Dir::Etc::SourceList="$work/sources.list" -o Dir::Etc::SourceParts=/dev/null -o Dir::State::Lists="$work/lists" \
		-o Dir::Cache="$work" -o APT::Sandbox::User=root "$@"
}

make_driver() {
	mkdir -p "$work/lists/partial" "$work/archives/partial"
	echo "deb-src [signed-by=/usr/share/keyrings/debian-archive-keyring.gpg] $mirror $release main" >"$work/sources.list"
	private_apt update
	(cd "$work" && private_apt source --download-only --only-source "level-zero=$version")
	dpkg-source --no-check -x "$work"/level-zero_*.dsc "$work/source"
	cmake -G Ninja -S "$work/source" -B "$work/build" -DCMAKE_BUILD_TYPE=Release
	cmake --build "$work/build" --target ze_null
	mkdir -p "$(dirname "$driver")"
	cp "$work/build/lib/libze_null.so.1" "$driver.$$"
	mv "$driver.$$" "$driver"
}

work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
if [ ! -e "$driver" ]; then
	make_driver >"$work/log" 2>&1 || {
		tail -n 3 "$work/log"
		skip "the null driver of level-zero $version cannot be made from its source package"
	}
fi
document=$(ZE_ENABLE_ALT_DRIVERS=$driver "$probe" --size 5000)
echo "$document"
for wanted in '"status":"ok","reason":null,"missing":null' '"name":"Null Device"' '"verified":false' \
	'"firstMismatch":{"array":"fill","index":0,'; do
	case $document in
	*"$wanted"*) ;;
	*)
		echo "null_driver: the document has no $wanted" >&2
		exit 1
		;;
	esac
done
