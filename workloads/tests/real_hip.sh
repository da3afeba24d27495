#!/bin/sh
# SPDX-License-Identifier: MIT
# real_hip.sh PROBE: AMD's own runtime of HIP, as Debian packages it, loads without a GPU, tells its version, and fails at each
# call with another code; probe-hip must tell that, and no device. The packages (76 MB) are unpacked once into the cache, never
# installed; where they cannot be had the test is skipped (77). GPUCERT_CACHE names the cache.
set -eu

probe=$1
cache=${GPUCERT_CACHE:-$([ "$(id -u)" -eq 0 ] && echo /var/cache/gpucert || echo "${HOME:?}/.cache/gpucert")}
packages="libamdhip64-5 libhsa-runtime64-1 libhsakmt1 libamd-comgr2"

skip() {
	echo "skipped: $*"
	exit 77
}

version=$(apt-cache policy libamdhip64-5 2>/dev/null | sed -n 's/^ *Candidate: //p')
case $version in
'' | '(none)') skip "there is no package libamdhip64-5" ;;
esac
root=$cache/hip-$version

work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
if [ ! -d "$root" ]; then
	# shellcheck disable=SC2086 # one word for each package
	(cd "$work" && apt-get -q -o APT::Sandbox::User=root download $packages) >"$work/log" 2>&1 || {
		tail -n 2 "$work/log"
		skip "the packages cannot be had"
	}
	for package in "$work"/*.deb; do
		dpkg -x "$package" "$work/root"
	done
	mkdir -p "$cache"
	mv "$work/root" "$root.$$"
	mv "$root.$$" "$root"
fi
libraries=$(dirname "$(find "$root" -name libamdhip64.so.5 | head -n 1)")
missing=$(LD_LIBRARY_PATH=$libraries ldd "$libraries/libamdhip64.so.5" | grep 'not found') && skip "$missing"

document=$(LD_LIBRARY_PATH=$libraries "$probe" --size 5000)
echo "$document"
for wanted in '"status":"ok","reason":null,"missing":null' '"version":"5.' '"hipInit: hipErrorInvalidDevice (101)"' \
	'"hipGetDeviceCount: hipErrorNoDevice (100)"' '"devices":[]' '"reason":"no device is visible"'; do
	case $document in
	*"$wanted"*) ;;
	*)
		echo "real_hip: the document has no $wanted" >&2
		exit 1
		;;
	esac
done
