#!/bin/bash
# SPDX-License-Identifier: MIT
# Makes the bytecode that the Direct3D probes embed from the .hlsl files of this folder: DXBC of Shader Model 5, and DXIL of
# Shader Model 6.
#   compile.sh                    writes the .dxbc and .dxil files, and made-by
#   compile.sh --check dxbc|dxil  compares those of one kind: 0 equal; 1 not; 77 the compiler that made them is not here, and the
#                                 sources are unchanged
#
# DXBC is made by vkd3d-compiler 2.1 (Debian package of that name, from Debian 14 on); VKD3D_COMPILER names another one. DXIL is made,
# and signed, by Microsoft's DXC under Wine (containers/wine/root/make-dlls.sh dxc), which takes root and MinGW-w64. The file made-by
# holds compiler, version and the SHA-256 of the source of each file, so that a source that was changed without them is seen everywhere.
set -eu

here=$(dirname "$(readlink -f "$0")")
wine=$here/../../../containers/wine/root
vkd3d=${VKD3D_COMPILER:-vkd3d-compiler}
windows_cc=${WINDOWS_CC:-x86_64-w64-mingw32-gcc}
check=no cached='' kinds='dxbc dxil'
[ "${1:-}" != --check ] || check=yes cached=--cached kinds=$2
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

# shellcheck disable=SC2034 # shader() takes them by name
dxbc=$("$vkd3d" --version 2>/dev/null | sed -n 's/^vkd3d shader compiler version \([^ ]*\).*/vkd3d-compiler \1/p') || dxbc=
# shellcheck disable=SC2034
dxil=
if [[ $kinds == *dxil* ]] && dlls=$("$wine/make-dlls.sh" $cached dxc 2>/dev/null) && [ "$(id -u)" -eq 0 ] && command -v "$windows_cc" >/dev/null; then
	cp "$dlls"/*.dll "$work"
	"$windows_cc" -O1 -o "$work/compile-dxil.exe" "$here/../../tests/compile_dxil.c"
	# shellcheck disable=SC2034
	dxil="DXC $(tr -d '\0' <"$work/dxcompiler.dll" | grep -aoE 'ProductVersion[0-9.]+' | head -n 1 | tr -cd 0-9.)"
fi

# compile KIND SOURCE ENTRY PROFILE: makes $work/bytecode
compile() {
	case $1 in
	dxbc) "$vkd3d" -x hlsl -b dxbc-tpf -p "$4" -e "$3" -o "$work/bytecode" "$here/$2" ;;
	dxil)
		cp "$here/$2" "$work"
		(cd "$work" && "$wine/wine-run" compile-dxil.exe "$2" "$3" "$4" bytecode)
		;;
	esac
}

status=0
# shader SOURCE ENTRY PROFILE FILE: SOURCE's function ENTRY becomes FILE, whose name ends in its kind
shader() {
	local source=$1 file=$4 kind=${4##*.} present digest known
	present=${!kind}
	[[ $kinds == *$kind* ]] || return 0
	digest=$(sha256sum "$here/$source" | cut -d ' ' -f 1)
	known=$(grep "^$file: " "$here/made-by") || known=
	if [ "$check" = yes ] && [ "${known##* }" != "$digest" ]; then
		echo "$file was made from another $source" >&2
		status=1
		return
	fi
	if [ "$check" = yes ] && [ "$known" != "$file: $present, $source SHA-256 $digest" ]; then
		[ "$status" -ne 0 ] || status=77
		return
	fi
	[ -n "$present" ] || {
		echo "compile.sh: no compiler for $file; it stays as it is" >&2
		status=1
		return
	}
	compile "$kind" "$source" "$2" "$3"
	if [ "$check" = no ]; then
		cp "$work/bytecode" "$here/$file"
		{
			grep -v "^$file: " "$here/made-by"
			echo "$file: $present, $source SHA-256 $digest"
		} | LC_ALL=C sort -o "$here/made-by"
	elif ! cmp -s "$work/bytecode" "$here/$file"; then
		echo "$file is not what $present makes of $source" >&2
		status=1
	fi
}

shader work.hlsl work cs_5_0 work.dxbc
shader triangle.hlsl triangle_vertex vs_5_0 triangle_vertex.dxbc
shader triangle.hlsl triangle_pixel ps_5_0 triangle_pixel.dxbc
shader work.hlsl work cs_6_0 work.dxil
exit "$status"
