#!/bin/sh
# SPDX-License-Identifier: MIT
# Installs what is missing, builds and tests: ./test.sh [PRESET...], by default dev and then asan.
# ctest's summary of the last preset is the end of the output.
set -eu

cd "$(dirname "$0")"
./cmake/install-packages.sh test
[ $# -gt 0 ] || set -- dev asan
for preset; do
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
