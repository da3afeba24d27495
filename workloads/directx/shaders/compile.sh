#!/bin/bash
# SPDX-License-Identifier: MIT
# Makes the bytecode that the Direct3D probes embed (Shader Model 5, DXBC) from the .hlsl files of this folder:
#   compile.sh          writes the headers
#   compile.sh --check  compares them: 0 equal; 1 not; 77 the compiler that made them is not here, and the sources are unchanged
#
# The compiler is vkd3d-compiler 2.1 (Debian package of that name, from Debian 14 on); VKD3D_COMPILER names another one. The
# headers hold its version and the SHA-256 of the source, so that a source that was changed without them is seen everywhere.
set -eu

here=$(dirname "$(readlink -f "$0")")
compiler=${VKD3D_COMPILER:-vkd3d-compiler}
check=no
[ "${1:-}" != --check ] || check=yes
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

# version FILE: the compiler that made a header; source FILE: the digest of its source.
version() { sed -n 's/^ \* Made by compile.sh with vkd3d-compiler \([^ ]*\)$/\1/p' "$1"; }
source_of() { sed -n 's/^ \* from .*\.hlsl, SHA-256 \([0-9a-f]*\).*/\1/p' "$1"; }

present=$("$compiler" --version 2>/dev/null | sed -n 's/^vkd3d shader compiler version \([^ ]*\).*/\1/p') || present=
status=0
# shader FILE ENTRY PROFILE: FILE.hlsl's function ENTRY becomes ENTRY.h
shader() {
	local file=$1 entry=$2 profile=$3 digest
	digest=$(sha256sum "$here/$file.hlsl" | cut -d ' ' -f 1)
	if [ "$check" = yes ] && [ "$(source_of "$here/$entry.h")" != "$digest" ]; then
		echo "$entry.h was made from another $file.hlsl" >&2
		status=1
		return
	fi
	if [ "$check" = yes ] && [ "$(version "$here/$entry.h")" != "$present" ]; then
		[ "$status" -ne 0 ] || status=77
		return
	fi
	[ -n "$present" ] || {
		echo "compile.sh: there is no vkd3d-compiler" >&2
		exit 1
	}
	"$compiler" -x hlsl -b dxbc-tpf -p "$profile" -e "$entry" -o "$work/$entry.dxbc" "$here/$file.hlsl"
	{
		echo "/* SPDX-License-Identifier: MIT */"
		echo "/*"
		echo " * Made by compile.sh with vkd3d-compiler $present"
		echo " * from $file.hlsl, SHA-256 $digest"
		echo " */"
		echo "/* clang-format off */"
		echo "static const unsigned char ${entry}_bytecode[] = {"
		od -An -v -tx1 -w16 "$work/$entry.dxbc" | sed 's/ \(..\)/0x\1,/g; s/^/\t/'
		echo "};"
	} >"$work/$entry.h"
	if [ "$check" = no ]; then
		cp "$work/$entry.h" "$here/$entry.h"
	elif ! cmp -s "$work/$entry.h" "$here/$entry.h"; then
		echo "$entry.h is not what $compiler makes of $file.hlsl" >&2
		status=1
	fi
}

shader work work cs_5_0
shader triangle triangle_vertex vs_5_0
shader triangle triangle_pixel ps_5_0
exit "$status"
