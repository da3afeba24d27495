#!/bin/sh
# SPDX-License-Identifier: MIT
# lint_sources.sh ROOT [BORDERS]: what the compilers do not check. Prints "file:line: RULE: text" and ends with exit
# code 1 when a rule is broken.
#
# L1  The licence stands at the top of every file.
# L2  Functions that cannot be used safely, or that end the process on input, are not called.
# L3  A folder of the product includes only what borders.txt allows it.
# L4  Tests of workloads/ use only workloads/ and base/, too.
# L5  The spine, and each module, has no more lines than borders.txt allows.
# L6  Headers of GPU APIs are included in workloads/ and in tests alone.
# L7  Test doubles are included by tests alone.
# L8  A file has at most 700 lines.
# L9  Nothing is left to do.
# L10 Every file can be checked out on Windows: no device's name, no colon and the like, nothing but case apart.
# L11 A function of the product has at most 60 lines.
# L12 No merge has left its marks.
# L13 Only a library's own folder, its tests and its fuzz targets include its internal.h.
set -eu

root=$1
here=$(cd "$(dirname "$0")" && pwd)
borders=${2:-$here/borders.txt}
broken=0

# The licence: in C the first line, elsewhere one of the first two.
for file in $("$here/list_sources.sh" "$root" '*.c' '*.h'); do
	if [ "$(head -n 1 "$root/$file")" != '/* SPDX-License-Identifier: MIT */' ]; then
		echo "$file:1: L1: the first line is not '/* SPDX-License-Identifier: MIT */'"
		broken=1
	fi
done
for file in $("$here/list_sources.sh" "$root" 'CMakeLists.txt' '*/CMakeLists.txt' '*.cmake' '*.sh' '*.awk' '*.mjs'); do
	if ! head -n 2 "$root/$file" | grep -q 'SPDX-License-Identifier: MIT'; then
		echo "$file:1: L1: no 'SPDX-License-Identifier: MIT' at the top"
		broken=1
	fi
done

for file in $("$here/list_sources.sh" "$root" '*' |
	grep -iE '(^|/)(con|prn|aux|nul|com[0-9]|lpt[0-9])(\.[^/]*)?(/|$)|[<>:"|?*\\]|[. ](/|$)' | tr ' ' '_'); do
	echo "$file:1: L10: Windows has no file of that name"
	broken=1
done
for file in $("$here/list_sources.sh" "$root" '*' | tr '[:upper:]' '[:lower:]' | LC_ALL=C sort | uniq -d); do
	echo "$file:1: L10: two files differ in case alone"
	broken=1
done

cd "$root"
if "$here/list_sources.sh" "$root" '*' | tr '\n' '\0' |
	xargs -0 grep -InE '^(<{7}|>{7}|[|]{7}) ' /dev/null | sed 's/^\([^:]*:[0-9]*\):.*/\1: L12: a merge has left its marks/' | grep .; then
	broken=1
fi
list=$("$here/list_sources.sh" "$root" '*.c' '*.h')
# shellcheck disable=SC2086 # names without spaces: L3 has no others to look at
awk -v borders="$borders" -f "$here/lint_sources.awk" $list || broken=1

# The files that SPINE.md names in its table, with their headers.
list_spine() {
	grep '^|' SPINE.md | grep -oE '`[a-z_/-]+[.][ch]`' | tr -d '`' | sed 's/[.][ch]$//' | sort -u | while read -r stem; do
		printf '%s\n' "$list" | grep -E "(^|/)${stem}[.][ch]\$"
	done
}
product() {
	grep -vE '/(tests|doubles|fuzz)/' || true
}
while read -r word limit name paths; do
	[ "$word" = lines ] || continue
	files=$(for path in $paths; do
		if [ "$path" = SPINE.md ]; then
			[ ! -e SPINE.md ] || list_spine
		else
			printf '%s\n' "$list" | grep "^$path/" || true
		fi
	done | product | sort -u)
	[ -n "$files" ] || continue
	# shellcheck disable=SC2086 # names without spaces
	lines=$(cat $files | wc -l)
	if [ "$lines" -gt "$limit" ]; then
		echo "$borders:1: L5: ${name%:} has $lines lines, more than $limit"
		broken=1
	fi
done <"$borders"
exit $broken
