#!/bin/sh
# SPDX-License-Identifier: MIT
# check_shell.sh ROOT PASSED: shellcheck finds nothing in the shell scripts, which their first line names; PASSED remembers those
# that passed (check_changed.sh). Exit code 77 without shellcheck.
set -eu

root=$1
passed=$2
here=$(cd "$(dirname "$0")" && pwd)
if ! command -v shellcheck >/dev/null; then
	echo "shellcheck is not installed"
	exit 77
fi
cd "$root"
"$here/list_sources.sh" . '*' | xargs awk 'FILENAME ~ /\.sh$/ || /^#!\/bin\/(ba)?sh/ { print FILENAME } { nextfile }' |
	"$here/check_changed.sh" "$passed" "$(shellcheck --version && cat .shellcheckrc)" shellcheck
