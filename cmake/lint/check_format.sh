#!/bin/sh
# SPDX-License-Identifier: MIT
# check_format.sh ROOT PASSED: every C file is as clang-format writes it; PASSED remembers those that were (check_changed.sh).
# check_format.sh ROOT --write: makes them so.
# Exit code 77 without clang-format.
set -eu

root=$1
passed=$2
here=$(cd "$(dirname "$0")" && pwd)
if ! command -v clang-format >/dev/null; then
	echo "clang-format is not installed"
	exit 77
fi
files=$("$here/list_sources.sh" "$root" '*.c' '*.h')
cd "$root"
if [ "$passed" = --write ]; then
	printf '%s\n' "$files" | xargs clang-format -i
elif ! printf '%s\n' "$files" | "$here/check_changed.sh" "$passed" "$(clang-format --version && cat .clang-format)" \
	clang-format --dry-run -Werror; then
	echo "The build target 'format' writes them as they should be."
	exit 1
fi
