#!/bin/sh
# SPDX-License-Identifier: MIT
# installed_manuals.sh PREFIX: every program that people type has a man page, which is found, renders without
# a warning and tells every option of --help.
set -eu
prefix=$1

command -v man >/dev/null || {
	echo "skipped: no man"
	exit 77
}
place=$(mktemp -d)
trap 'rm -rf "$place"' EXIT
broken=0
complain() {
	echo "$*"
	broken=1
}

for program in "$prefix"/bin/*; do
	name=$(basename "$program")
	page=$prefix/share/man/man1/$name.1
	if [ "$(MANPATH=$prefix/share/man man -w "$name" 2>&1)" != "$page" ]; then
		complain "$name: man does not find $page"
		continue
	fi
	LC_ALL=C.UTF-8 MANWIDTH=400 man --warnings --no-hyphenation -l "$page" >"$place/page" 2>"$place/warnings" ||
		complain "$page: man failed"
	if [ -s "$place/warnings" ]; then
		complain "$page: $(cat "$place/warnings")"
	fi
	for option in $("$program" --help | grep -oE '^ +(-., )? *--[a-z-]+' | grep -oE -e '--[a-z-]+'); do
		grep -qF -- "$option" "$place/page" || complain "$page: does not tell $option"
	done
done
exit $broken
