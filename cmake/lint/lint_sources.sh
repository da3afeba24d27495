#!/bin/sh
# SPDX-License-Identifier: MIT
# lint_sources.sh ROOT: what the compilers do not check. Prints "file:line: RULE: text" and ends with exit
# code 1 when a rule is broken.
#
# L1  The licence stands at the top of every file.
# L2  Functions that cannot be used safely, or that end the process on input, are not called.
# L3  A folder includes only itself and the folders above it in the list of the top CMakeLists.txt.
# L4  workloads/ uses only base/.
# L5  A folder of conformance/ includes only itself and those added before it in conformance/CMakeLists.txt; its tests may others.
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
folders=$(sed -n '/^set(GPUCERT_FOLDERS/,/^)/p' "$root/CMakeLists.txt" | sed '1d;$d' | tr -s '[:space:]' ' ')
if [ -z "$folders" ]; then
	echo "CMakeLists.txt: no list of folders"
	exit 1
fi
rooms=$(sed -n 's|^add_subdirectory(\([a-z-]*\))|conformance/\1|p' "$root/conformance/CMakeLists.txt" | tr '\n' ' ')
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
awk -v folders="$folders" -v rooms="$rooms" -f "$here/lint_sources.awk" $list || broken=1
exit $broken
