#!/bin/sh
# SPDX-License-Identifier: MIT
# configure_without_tests.sh CMAKE SOURCE COMPILER: the project configures with BUILD_TESTING=OFF from nothing,
# without Node.js and CUnit, and registers no test.
set -eu
cmake=$1 source=$2 compiler=$3

place=$(mktemp -d)
trap 'rm -rf "$place"' EXIT
if ! "$cmake" -S "$source" -B "$place" -G Ninja -DBUILD_TESTING=OFF -DCMAKE_C_COMPILER="$compiler" \
	-DCMAKE_BUILD_TYPE=Release >"$place/log" 2>&1; then
	cat "$place/log"
	exit 1
fi
if grep -E '^(NODE|NPM|CUNIT_FOUND):' "$place/CMakeCache.txt"; then
	echo "a build without tests looked for what only tests need"
	exit 1
fi
tests=$(find "$place" -name CTestTestfile.cmake -exec grep -l add_test {} +) || true
if [ -n "$tests" ]; then
	echo "a build without tests registers tests: $tests"
	exit 1
fi
