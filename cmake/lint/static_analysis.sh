#!/bin/sh
# SPDX-License-Identifier: MIT
# static_analysis.sh ROOT BUILD [PATTERN]: cppcheck and clang-tidy over the project's C files that the build tree
# BUILD compiles (its compile_commands.json), or those whose path matches PATTERN ('*' for anything). Prints what they
# find; exit code 1 when that is anything, 77 without cppcheck or clang-tidy.
set -eu

root=$1
build=$2
pattern=${3:-*}
here=$(cd "$(dirname "$0")" && pwd)
for tool in cppcheck clang-tidy; do
	if ! command -v "$tool" >/dev/null; then
		echo "$tool is not installed"
		exit 77
	fi
done
jobs=$(getconf _NPROCESSORS_ONLN)
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
broken=0

mkdir -p "$build/cppcheck"
cppcheck --project="$build/compile_commands.json" --cppcheck-build-dir="$build/cppcheck" -j "$jobs" --quiet \
	--enable=warning,style,performance,portability --std=c11 --library=posix --library="$here/cppcheck-library.cfg" \
	--file-filter="$pattern" --inline-suppr --suppressions-list="$here/cppcheck-suppressions.txt" \
	--template='{file}:{line}: {severity}: {message} [{id}]' --error-exitcode=1 || broken=1

sed -n 's|^ *"file": "\(.*\)",\{0,1\}$|\1|p' "$build/compile_commands.json" | sort -u >"$work/compiled"
"$here/list_sources.sh" "$root" '*.c' | while IFS= read -r file; do
	# shellcheck disable=SC2254 # a pattern
	case $file in $pattern) echo "$file" ;; esac
done | sed "s|^|$(cd "$root" && pwd)/|" | sort |
	comm -12 - "$work/compiled" >"$work/files"
if [ ! -s "$work/files" ]; then
	echo "$build/compile_commands.json names none of the project's files"
	exit 1
fi
xargs -P "$jobs" -n 8 clang-tidy -p "$build" --quiet <"$work/files" >"$work/tidy" 2>"$work/notes" || broken=1
cat "$work/tidy"
grep -v ' warnings\{0,1\} generated\.$' "$work/notes" >&2 || true
exit $broken
