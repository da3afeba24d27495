#!/bin/sh
# SPDX-License-Identifier: MIT
# document_links.sh ROOT: every relative link of every Markdown file leads to a file of the tree, and to a
# heading of it where it names one. Names like docs/NAME.md are links too. The index docs/README.md links every
# document beside it.
set -eu
root=$(cd "$1" && pwd)
lint=$(cd "$(dirname "$0")/../lint" && pwd)

# slugs FILE: the anchors of its headings.
slugs() {
	sed -n '/^```/,/^```/!s/^##* *//p' "$1" | tr '[:upper:]' '[:lower:]' | sed 's/[^a-z0-9 _-]//g; s/ /-/g'
}

broken=0
seen=0
cd "$root"
links=$(mktemp)
trap 'rm -f "$links"' EXIT
"$lint/list_sources.sh" "$root" '*.md' | while IFS= read -r file; do
	# [text](target) outside of code; and bare or quoted docs/NAME.md, which people follow by hand
	sed '/^```/,/^```/d' "$file" | sed 's/`[^`]*`//g' | { grep -oE '\]\([^)]+\)' || true; } |
		sed "s|^](\(.*\))\$|$file\tlink\t\1|"
	{ grep -oE '\bdocs/[A-Za-z0-9_-]+\.md' "$file" || true; } | sed "s|^|$file\tname\t|"
done >"$links"
while IFS="$(printf '\t')" read -r file kind target; do
	seen=$((seen + 1))
	case $target in
	*://* | mailto:*) continue ;;
	esac
	path=${target%%#*}
	case $kind in
	name) ;;
	*) path=$(dirname "$file")/$path ;;
	esac
	[ "${target%%#*}" != "" ] || path=$file
	if [ ! -e "$path" ]; then
		echo "$file: $target does not exist"
		broken=1
	elif [ "$target" != "${target#*#}" ] && ! slugs "$path" | grep -qxF -- "${target#*#}"; then
		echo "$file: $target: no such heading"
		broken=1
	fi
done <"$links"
if [ -e docs/README.md ]; then
	for file in docs/*.md; do
		name=$(basename "$file")
		if [ "$name" != README.md ] && ! grep -qF "]($name)" docs/README.md; then
			echo "docs/README.md: no link to $name"
			broken=1
		fi
	done
fi
echo "$seen links"
exit $broken
