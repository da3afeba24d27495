#!/bin/sh
# SPDX-License-Identifier: MIT
# Installs what is missing, builds and tests: ./test.sh [PRESET...], by default windows (whose tests run under Wine), dev,
# which certifies the Wine node with the Windows programs, and asan. ctest's summary of the last preset is the end of the output.
set -eu

cd "$(dirname "$0")"
./cmake/install-packages.sh test
[ $# -gt 0 ] || set -- windows dev asan
for preset; do
	if [ "$preset" = windows ]; then
		./cmake/windows-dependencies/make-dependencies.sh >/dev/null
		wine_sources=$PWD/containers/wine/root
		# shellcheck source=containers/wine/root/cache.sh
		. "$wine_sources/cache.sh"
		if [ ! -d "$wine_root" ]; then
			echo "Making the root folder for Wine: once, about 1 minute"
			"$wine_sources/make-root.sh" --check >/dev/null || [ $? -eq 77 ]
		fi
	fi
	echo "== $preset: build"
	log=$(mktemp)
	if ! { cmake --preset "$preset" && cmake --build --preset "$preset"; } >"$log" 2>&1; then
		cat "$log" >&2
		rm -f "$log"
		exit 1
	fi
	rm -f "$log"
	echo "== $preset: test"
	ctest --preset "$preset"
done
