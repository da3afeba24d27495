#!/bin/sh
# SPDX-License-Identifier: MIT
# check_format.sh ROOT [--write]: every C file is as clang-format writes it, or is made so. Exit code 77
# without clang-format.
set -eu

root=$1
mode=${2:-}
here=$(cd "$(dirname "$0")" && pwd)
if ! command -v clang-format >/dev/null; then
	echo "clang-format is not installed"
	exit 77
fi
files=$("$here/list_sources.sh" "$root" '*.c' '*.h')
cd "$root"
if [ "$mode" = --write ]; then
	printf '%s\n' "$files" | xargs clang-format -i
elif ! printf '%s\n' "$files" | xargs clang-format --dry-run -Werror; then
	echo "The build target 'format' writes them as they should be."
	exit 1
fi
