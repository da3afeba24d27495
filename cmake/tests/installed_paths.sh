#!/bin/sh
# SPDX-License-Identifier: MIT
# installed_paths.sh PREFIX: nothing in the tree names the build, the sources or the folder it was installed
# to, and libraries are searched relative to the programs that need them.
set -eu
prefix=$1
broken=0

complain() {
	echo "$*"
	broken=1
}

# is_elf FILE
is_elf() {
	[ "$(head -c 4 "$1" | tail -c 3)" = ELF ]
}

place=$(mktemp -d)
trap 'rm -rf "$place"' EXIT
find "$prefix" -type f >"$place/files"
programs=0
while IFS= read -r file; do
	text=$file
	if is_elf "$file"; then
		programs=$((programs + 1))
		for path in $(readelf -d "$file" | sed -n 's/.*R\(UN\)\?PATH.*\[\(.*\)\]/\2/p' | tr ':' ' '); do
			case $path in
			"\$ORIGIN"/*) ;;
			*) complain "$file: searches libraries in $path" ;;
			esac
		done
		# Debug information names the sources, and so do sanitizers and coverage.
		[ -z "$SANITIZE" ] || [ "$SANITIZE" = OFF ] || continue
		text=$place/stripped
		objcopy --strip-debug "$file" "$text"
	fi
	for path in "$BUILD_DIR" "$SOURCE_DIR/" "$prefix.first"; do
		if grep -qaF -- "$path" "$text"; then
			complain "$file: holds $path"
		fi
	done
done <"$place/files"
[ "$programs" -ge 8 ] || complain "only $programs programs and libraries were installed"
exit $broken
