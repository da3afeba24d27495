#!/bin/sh
# SPDX-License-Identifier: MIT
# check_shell.sh ROOT: shellcheck finds nothing in the shell scripts, which their first line tells. Exit
# code 77 without shellcheck.
set -eu

root=$1
here=$(cd "$(dirname "$0")" && pwd)
if ! command -v shellcheck >/dev/null; then
	echo "shellcheck is not installed"
	exit 77
fi
cd "$root"
"$here/list_sources.sh" . '*' | while IFS= read -r file; do
	case $file in
	*.sh) echo "$file" ;;
	*) if head -c 64 "$file" | head -n 1 | grep -aq '^#!/bin/\(ba\)\{0,1\}sh'; then echo "$file"; fi ;;
	esac
done | xargs shellcheck
