#!/bin/sh
# SPDX-License-Identifier: MIT
# Makes the module that probe-levelzero embeds (SPIR-V 1.0, as words) from the kernel of probe-opencl:
#   compile.sh          writes work_spirv.h
#   compile.sh --check  compares it: 0 equal; 1 not; 77 the compilers that made it are not here, and the source is unchanged
#
# The compilers are clang-15 and llvm-spirv-15 (Debian packages of these names); SPIRV_CLANG and LLVM_SPIRV name others. The
# header holds their versions and the SHA-256 of the source, so that a source that was changed without it is seen everywhere.
set -eu

here=$(dirname "$(readlink -f "$0")")
source=$here/../opencl/work.cl
header=$here/work_spirv.h
clang=${SPIRV_CLANG:-clang-15}
translator=${LLVM_SPIRV:-llvm-spirv-15}
check=no
[ "${1:-}" != --check ] || check=yes
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

digest=$(sha256sum "$source" | cut -d ' ' -f 1)
if [ "$check" = yes ] && ! grep -q "$digest" "$header"; then
	echo "work_spirv.h was made from another work.cl" >&2
	exit 1
fi
version() { "$1" --version 2>/dev/null | sed -n 's/.* version \([0-9.]*\).*/\1/p' | head -n 1; }
made="clang $(version "$clang") and llvm-spirv $(version "$translator")"
if [ "$check" = yes ] && ! grep -q " \* Made by compile.sh with $made\$" "$header"; then
	exit 77
fi
# Every driver of Level Zero takes SPIR-V 1.0.
"$clang" -x cl -cl-std=CL1.2 --target=spir64 -Xclang -no-opaque-pointers -Xclang -finclude-default-header -O2 \
	-emit-llvm -c -o "$work/work.bc" "$source"
"$translator" --spirv-max-version=1.0 -o "$work/work.spv" "$work/work.bc"
! command -v spirv-val >/dev/null || spirv-val --target-env opencl1.2 "$work/work.spv"
{
	echo "/* SPDX-License-Identifier: MIT */"
	echo "/*"
	echo " * Made by compile.sh with $made"
	echo " * from work.cl of probe-opencl, SHA-256"
	echo " * $digest"
	echo " */"
	echo "#pragma once"
	echo
	echo "#include <stdint.h>"
	echo
	echo "/* clang-format off */"
	echo "static const uint32_t work_spirv[] = {"
	od -An -v -tx4 -w32 "$work/work.spv" | sed 's/ \(........\)/0x\1,/g; s/^/\t/'
	echo "};"
} >"$work/work_spirv.h"
if [ "$check" = no ]; then
	cp "$work/work_spirv.h" "$header"
elif ! cmp -s "$work/work_spirv.h" "$header"; then
	echo "work_spirv.h is not what $made make of work.cl" >&2
	exit 1
fi
