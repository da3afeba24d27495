#!/bin/sh
# SPDX-License-Identifier: MIT
# Installs what is missing, builds, and certifies this machine: `gpucert run` with the given arguments.
set -eu

case ${1:-} in
-h | --help)
	echo 'usage: ./run.sh [OPTION...] [CHECK...]'
	sed -n '3s/^# //p' "$0"
	echo 'Its options, once built: build/release/bin/gpucert run --help'
	exit
	;;
esac
root=$(cd "$(dirname "$0")" && pwd)
build=$root/build/release
"$root/cmake/install-packages.sh" all
[ -x "$build/bin/gpucert" ] || echo "Building gpucert (a few minutes, once) ..." >&2
log=$(mktemp)
trap 'rm -f "$log"' EXIT
if ! { { [ -f "$build/build.ninja" ] || (cd "$root" && cmake --preset release -DBUILD_TESTING=OFF); } &&
	cmake --build "$build"; } >"$log" 2>&1; then
	cat "$log" >&2
	exit 3
fi
rm -f "$log"
trap - EXIT
[ $# -gt 0 ] || set -- --jobs 2 # half the time
exec "$build/bin/gpucert" run "$@"
