#!/bin/bash
# SPDX-License-Identifier: MIT
# Makes kernels.ptx, which probe-cuda embeds and the driver compiles for its device, from kernels.c:
#   compile.sh          writes it
#   compile.sh --check  compares it: 0 equal; 1 not; 77 the compiler that made it is not here, and the sources are unchanged
#   compile.sh --ptxas  has ptxas compile it for each architecture that this ptxas knows: 0 it does; 77 there is no ptxas
#
# The compiler is clang 19 (Debian package clang-19); CLANG names another one. No CUDA is needed. PTX 4.2 for
# `.target sm_50` is what drivers take since CUDA 7, for later architectures too. kernels.ptx holds the compiler's version and the SHA-256 of the
# sources, so that a source that was changed without it is seen everywhere.
set -eu

here=$(dirname "$(readlink -f "$0")")
root=$here/../..
compiler=${CLANG:-clang-19}
ptx=$here/kernels.ptx
digest=$(cat "$here/kernels.c" "$here/../common/kernel.h" | sha256sum | cut -d ' ' -f 1)
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

check_ptxas() {
	local ptxas=${PTXAS:-ptxas} architecture known=0
	command -v "$ptxas" >"$work/found" || exit 77
	for architecture in $("$ptxas" --help | grep -o "'sm_[0-9]*'" | tr -d "'" | sort -u); do
		[ "${architecture#sm_}" -ge 50 ] || continue # older than the PTX says
		"$ptxas" --warning-as-error -arch="$architecture" -o "$work/cubin" "$ptx" || {
			echo "kernels.ptx: ptxas refuses it for $architecture" >&2
			exit 1
		}
		known=$((known + 1))
	done
	[ "$known" -gt 0 ] || {
		echo "$ptxas names no architecture" >&2
		exit 1
	}
	echo "kernels.ptx compiles for $known architectures"
}

# A CUDA that is installed would raise the version of the PTX.
compile() {
	"$compiler" --target=nvptx64-nvidia-cuda -march=sm_50 --cuda-path=/nonexistent -nocudalib -ffreestanding \
		-std=c11 -O2 -S -I "$root" \
		-o "$work/compiled" "$here/kernels.c"
	{
		echo "// SPDX-License-Identifier: MIT"
		echo "// Made by compile.sh with clang $present"
		echo "// from kernels.c and ../common/kernel.h, SHA-256 $digest"
		sed 's/[ \t]*\/\/.*//; /^$/d' "$work/compiled"
	} >"$work/kernels.ptx"
}

[ "${1:-}" != --ptxas ] || { check_ptxas && exit 0; }
present=$("$compiler" --version 2>"$work/error" | sed -n 's/.*clang version \([0-9.]*\).*/\1/p') || present=
if [ "${1:-}" = --check ]; then
	grep -q "SHA-256 $digest\$" "$ptx" || {
		echo "kernels.ptx was made from other sources: run workloads/cuda/compile.sh" >&2
		exit 1
	}
	grep -q "with clang $present\$" "$ptx" || exit 77
	compile
	cmp "$work/kernels.ptx" "$ptx"
	exit
fi
[ -n "$present" ] || {
	echo "compile.sh: there is no $compiler" >&2
	exit 1
}
compile
cp "$work/kernels.ptx" "$ptx"
