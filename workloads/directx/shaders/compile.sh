#!/bin/bash
# SPDX-License-Identifier: MIT
# Makes the bytecode that the Direct3D probes embed from the .hlsl files of this folder: DXBC of Shader Model 5, and DXIL of
# Shader Model 6.
#   compile.sh                    writes the headers
#   compile.sh --check dxbc|dxil  compares those of one kind: 0 equal; 1 not; 77 the compiler that made them is not here, and the
#                                 sources are unchanged
#
# DXBC is made by vkd3d-compiler 2.1 (Debian package of that name, from Debian 14 on); VKD3D_COMPILER names another one. DXIL is made,
# and signed, by Microsoft's DXC under Wine (containers/wine/root/make-dlls.sh dxc), which takes root and MinGW-w64. The headers hold
# compiler, version and the SHA-256 of the source, so that a source that was changed without them is seen everywhere.
set -eu

here=$(dirname "$(readlink -f "$0")")
wine=$here/../../../containers/wine/root
vkd3d=${VKD3D_COMPILER:-vkd3d-compiler}
windows_cc=${WINDOWS_CC:-x86_64-w64-mingw32-gcc}
check=no cached='' kinds='dxbc dxil'
[ "${1:-}" != --check ] || check=yes cached=--cached kinds=$2
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

# made_by FILE: the compiler that made a header; source FILE: the digest of its source.
made_by() { sed -n 's/^ \* Made by compile.sh with \(.*\)$/\1/p' "$1"; }
source_of() { sed -n 's/^ \* from .*\.hlsl, SHA-256 \([0-9a-f]*\).*/\1/p' "$1"; }

# shellcheck disable=SC2034 # shader() takes them by name
dxbc=$("$vkd3d" --version 2>/dev/null | sed -n 's/^vkd3d shader compiler version \([^ ]*\).*/vkd3d-compiler \1/p') || dxbc=
# shellcheck disable=SC2034
dxil=
if [[ $kinds == *dxil* ]] && dlls=$("$wine/make-dlls.sh" $cached dxc 2>/dev/null) && [ "$(id -u)" -eq 0 ] && command -v "$windows_cc" >/dev/null; then
	cp "$dlls"/*.dll "$work"
	"$windows_cc" -O1 -o "$work/compile-dxil.exe" "$here/compile_dxil.c"
	# shellcheck disable=SC2034
	dxil="DXC $(tr -d '\0' <"$work/dxcompiler.dll" | grep -aoE 'ProductVersion[0-9.]+' | head -n 1 | tr -cd 0-9.)"
fi

# compile KIND FILE ENTRY PROFILE: makes $work/bytecode
compile() {
	case $1 in
	dxbc) "$vkd3d" -x hlsl -b dxbc-tpf -p "$4" -e "$3" -o "$work/bytecode" "$here/$2.hlsl" ;;
	dxil)
		cp "$here/$2.hlsl" "$work"
		(cd "$work" && "$wine/wine-run" compile-dxil.exe "$2.hlsl" "$3" "$4" bytecode)
		;;
	esac
}

status=0
# shader KIND FILE ENTRY PROFILE HEADER: FILE.hlsl's function ENTRY becomes HEADER.h
shader() {
	local present=${!1} file=$2 header=$5 digest
	[[ $kinds == *$1* ]] || return 0
	digest=$(sha256sum "$here/$file.hlsl" | cut -d ' ' -f 1)
	if [ "$check" = yes ] && [ "$(source_of "$here/$header.h")" != "$digest" ]; then
		echo "$header.h was made from another $file.hlsl" >&2
		status=1
		return
	fi
	if [ "$check" = yes ] && [ "$(made_by "$here/$header.h")" != "$present" ]; then
		[ "$status" -ne 0 ] || status=77
		return
	fi
	[ -n "$present" ] || {
		echo "compile.sh: no compiler for $header.h; it stays as it is" >&2
		status=1
		return
	}
	compile "$1" "$file" "$3" "$4"
	{
		echo "/* SPDX-License-Identifier: MIT */"
		echo "/*"
		echo " * Made by compile.sh with $present"
		echo " * from $file.hlsl, SHA-256 $digest"
		echo " */"
		echo "/* clang-format off */"
		echo "static const unsigned char ${header}_bytecode[] = {"
		od -An -v -tx1 -w16 "$work/bytecode" | sed 's/ \(..\)/0x\1,/g; s/^/\t/'
		echo "};"
	} >"$work/$header.h"
	if [ "$check" = no ]; then
		cp "$work/$header.h" "$here/$header.h"
	elif ! cmp -s "$work/$header.h" "$here/$header.h"; then
		echo "$header.h is not what $present makes of $file.hlsl" >&2
		status=1
	fi
}

shader dxbc work work cs_5_0 work
shader dxbc triangle triangle_vertex vs_5_0 triangle_vertex
shader dxbc triangle triangle_pixel ps_5_0 triangle_pixel
shader dxil work work cs_6_0 work_dxil
exit "$status"
