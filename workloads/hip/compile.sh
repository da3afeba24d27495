#!/bin/sh
# SPDX-License-Identifier: MIT
# Makes the code objects that probe-hip embeds from work.hip, one for each target:
#   compile.sh          writes code/TARGET.co, and code/made-by
#   compile.sh --check  compares them: 0 equal; 1 not; 77 the compiler that made them is not here, and the source is unchanged
#
# The compiler is clang-19 with lld-19 (Debian packages of these names); HIP_CLANG names another one. Nothing of ROCm is needed.
# Version 4 of the format is what runtimes from ROCm 5 on load.
set -eu

here=$(dirname "$(readlink -f "$0")")
clang=${HIP_CLANG:-clang-19}
targets="gfx900 gfx906 gfx908 gfx90a gfx942 gfx1030 gfx1100 gfx1101 gfx1102 gfx1200 gfx1201"
check=no
[ "${1:-}" != --check ] || check=yes
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

digest=$(sha256sum "$here/work.hip" | cut -d ' ' -f 1)
version=$("$clang" --version 2>/dev/null | sed -n 's/.*clang version \([0-9.]*\).*/\1/p')
made="clang $version, work.hip SHA-256 $digest"
if [ "$check" = yes ] && ! grep -q "$digest" "$here/code/made-by"; then
	echo "the code objects were made from another work.hip" >&2
	exit 1
fi
if [ "$check" = yes ] && [ "$(cat "$here/code/made-by")" != "$made" ]; then
	exit 77
fi
cd "$here"
for target in $targets; do
	"$clang" -x hip --cuda-device-only --offload-arch="$target" -nogpulib -nogpuinc -O2 -mcode-object-version=4 -fuse-cuid=none \
		--no-gpu-bundle-output -o "$work/$target.co" work.hip
done
chmod 644 "$work"/*.co
if [ "$check" = no ]; then
	rm -f code/*.co
	cp "$work"/*.co code/
	echo "$made" >code/made-by
	exit 0
fi
for target in $targets; do
	cmp "$work/$target.co" "code/$target.co" >&2 || exit 1
done
