#!/bin/sh
# SPDX-License-Identifier: MIT
# Makes the module that probe-levelzero embeds (SPIR-V 1.0) from the kernel of probe-opencl:
#   compile.sh          writes work.spv, and made-by
#   compile.sh --check  compares it: 0 equal; 1 not; 77 the compilers that made it are not here, and the source is unchanged
#
# The compilers are clang-15 and llvm-spirv-15 (Debian packages of these names); SPIRV_CLANG and LLVM_SPIRV name others. The
# file made-by holds their versions and the SHA-256 of the source, so that a source that was changed without it is seen everywhere.
set -eu

here=$(dirname "$(readlink -f "$0")")
source=$here/../opencl/work.cl
module=$here/work.spv
clang=${SPIRV_CLANG:-clang-15}
translator=${LLVM_SPIRV:-llvm-spirv-15}
check=no
[ "${1:-}" != --check ] || check=yes
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

digest=$(sha256sum "$source" | cut -d ' ' -f 1)
if [ "$check" = yes ] && ! grep -q "$digest" "$here/made-by"; then
	echo "work.spv was made from another work.cl" >&2
	exit 1
fi
version() { "$1" --version 2>/dev/null | sed -n 's/.* version \([0-9.]*\).*/\1/p' | head -n 1; }
made="clang $(version "$clang") and llvm-spirv $(version "$translator"), work.cl of probe-opencl SHA-256 $digest"
if [ "$check" = yes ] && [ "$(cat "$here/made-by")" != "$made" ]; then
	exit 77
fi
# Every driver of Level Zero takes SPIR-V 1.0.
"$clang" -x cl -cl-std=CL1.2 --target=spir64 -Xclang -no-opaque-pointers -Xclang -finclude-default-header -O2 \
	-emit-llvm -c -o "$work/work.bc" "$source"
"$translator" --spirv-max-version=1.0 -o "$work/work.spv" "$work/work.bc"
! command -v spirv-val >/dev/null || spirv-val --target-env opencl1.2 "$work/work.spv"
if [ "$check" = no ]; then
	cp "$work/work.spv" "$module"
	echo "$made" >"$here/made-by"
elif ! cmp -s "$work/work.spv" "$module"; then
	echo "work.spv is not what $made make of it" >&2
	exit 1
fi
