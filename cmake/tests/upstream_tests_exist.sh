#!/bin/sh
# SPDX-License-Identifier: MIT
# upstream_tests_exist.sh ROOT DOCUMENT: every test that the document names exists: `test_x.c: case` is a case in the table
# of that program, `test_x.c` and `test_x.sh` are files.
set -eu
root=$1
document=$2
missing=0
named=0

work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
names=$work/names
files=$work/files
found=$work/found
# shellcheck disable=SC2016 # the backticks are Markdown's
grep -oE '`test_[a-z_0-9]+\.(c|sh)(: [^`]+)?`' "$document" | tr -d '`' | sort -u >"$names"
while IFS= read -r name; do
	named=$((named + 1))
	file=${name%%: *}
	git -C "$root" ls-files --cached --others --exclude-standard -- "*/tests/$file" "*/tests/*/$file" >"$files"
	if [ ! -s "$files" ]; then
		echo "$document names '$file', which is not in the tree"
		missing=1
	elif [ "$file" != "$name" ] && ! (cd "$root" && xargs cat <"$files") | tr -s ' \t\n' ' ' |
		grep -F "{\"${name#*: }\"," >"$found"; then
		echo "$document names '${name#*: }', which is no test of $file"
		missing=1
	fi
done <"$names"
if [ "$named" -eq 0 ]; then
	echo "$document names no test"
	exit 1
fi
exit "$missing"
