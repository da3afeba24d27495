#!/bin/sh
# SPDX-License-Identifier: MIT
# list_sources.sh ROOT PATTERN...: the files of a source tree, one a line, relative to ROOT: those that git
# knows or would add; outside of a checkout everything but build trees.
set -eu

root=$1
shift
cd "$root"
if [ -e .git ] && command -v git >/dev/null; then
	git ls-files --cached --others --exclude-standard -- "$@"
else
	for pattern in "$@"; do
		find . -path ./build -prune -o -path '*/node_modules' -prune -o -type f -name "$pattern" -print
	done | sed 's|^\./||'
fi | LC_ALL=C sort -u | while IFS= read -r file; do
	if [ -f "$file" ]; then
		printf '%s\n' "$file"
	fi
done
