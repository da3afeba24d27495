#!/bin/sh
# SPDX-License-Identifier: MIT
# library_interface.sh LIBRARY OBJDUMP SOURCE: the discovery DLL exports the functions of its public headers and nothing else, and
# needs libraries of Windows alone.
set -eu
library=$1 objdump=$2 source=$3

work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
"$objdump" -p "$library" >"$work/dump"

# A declaration in the headers: a name of ours before a parenthesis, other than in comments and types of callbacks.
sed -e '/^static inline/d' -e 's,/\*.*\*/,,' -e '/^ *\*/d' -e '/^#/d' "$source/discovery/include/gpucert/discovery.h" "$source/base/include/gpucert/error.h" |
	grep -oE '\b(discovery|error)_[a-z0-9_]+\(' | tr -d '(' | sort -u >"$work/declared"
sed -n '/\[Ordinal\/Name Pointer\] Table/,/^$/p' "$work/dump" | sed -n 's/^.*\] \(+base\[[ 0-9]*\] *[0-9a-f]* \)\{0,1\}//p' |
	grep -v '^Table' | sort -u >"$work/exported"
diff "$work/declared" "$work/exported" || {
	echo "$library: exports differ from the headers (<: declared, >: exported)" >&2
	exit 1
}

sed -n 's/^.*DLL Name: //p' "$work/dump" | tr '[:upper:]' '[:lower:]' | sort -u >"$work/needed"
[ -s "$work/needed" ]
foreign=$(grep -vxE '(kernel32|msvcrt|setupapi|advapi32|iphlpapi|user32|userenv|ws2_32|cfgmgr32|ole32|dbghelp|bcrypt|version)\.dll|api-ms-win-.*' \
	"$work/needed" || true)
if [ -n "$foreign" ]; then
	echo "$library needs what Windows has not: $foreign" >&2
	exit 1
fi
echo "$(wc -l <"$work/exported") functions, needs $(tr '\n' ' ' <"$work/needed")"
