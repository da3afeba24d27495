#!/bin/sh
# SPDX-License-Identifier: MIT
# documented_tests_exist.sh ROOT DOCUMENT...: every test that a document names in backticks exists. `test_x.c: case` is a case in
# the table of that program, `x.mjs: text` and `test_x.sh: text` a text in that file, and without a case the file is meant.
set -eu
root=$1
shift
missing=0

work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
names=$work/names
files=$work/files
found=$work/found
for document in "$@"; do
	# shellcheck disable=SC2016 # the backticks are Markdown's
	grep -oE '`(test_[a-z_0-9]+\.(c|sh)|[a-z_0-9]+\.mjs)(: [^`]+)?`' "$document" | tr -d '`' | sort -u >"$names" || true
	if [ ! -s "$names" ]; then
		echo "$document names no test"
		missing=1
	fi
	while IFS= read -r name; do
		file=${name%%: *}
		case=${name#*: }
		git -C "$root" ls-files --cached --others --exclude-standard -- "*/tests/$file" "*/tests/*/$file" \
			"*/interop/$file" >"$files"
		case $file in
		*.c) text="{\"$case\"," ;;
		*) text=$case ;;
		esac
		if [ ! -s "$files" ]; then
			echo "$document names '$file', which is not in the tree"
			missing=1
		elif [ "$file" != "$name" ] && ! (cd "$root" && xargs cat <"$files") | tr -s ' \t\n' ' ' | grep -F "$text" >"$found"; then
			echo "$document names '$case', which is not a test of $file"
			missing=1
		fi
	done <"$names"
done
exit "$missing"
