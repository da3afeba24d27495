#!/bin/bash
# SPDX-License-Identifier: MIT
# test_make_dlls.sh FOLDER: make-dlls.sh tells what it cannot have, takes no other DLL than the one it knows, leaves nothing of a
# failure, and builds in a copy of the root. npm and the build of Wine are scripts of this test: neither network nor compiler.
set -eu

folder=$1
here=$(cd "$(dirname "$0")" && pwd)
rm -rf "$folder"
mkdir -p "$folder/doubles" "$folder/package/bin/napi-v6/win32/x64"
cp -r "$here/.." "$folder/scripts"
make=$folder/scripts/make-dlls.sh
[ "$(id -u)" -eq 0 ] || exit 77 # mounts, chroot
real_root=$("$here/../make-root.sh" --check)
export GPUCERT_CACHE=$folder/cache
microsoft=$GPUCERT_CACHE/onnxruntime-node@1.30.0

fail() {
	echo "FAIL: $1" >&2
	exit 1
}

# expect STATUS REASON WORD...: make-dlls.sh WORD... ends so and says so.
expect() {
	local wanted=$1 reason=$2 status=0
	shift 2
	PATH=$folder/doubles:$PATH "$make" "$@" >"$folder/out.txt" 2>"$folder/err.txt" || status=$?
	[ "$status" -eq "$wanted" ] || fail "$*: exit code $status instead of $wanted: $(cat "$folder/err.txt")"
	grep -q -- "$reason" "$folder/err.txt" "$folder/out.txt" || fail "$*: not about '$reason': $(cat "$folder/err.txt")"
	[ ! -e "$microsoft.new" ] || fail "$*: $microsoft.new is left"
}

expect 2 usage
expect 2 usage everything
expect 77 'not in the cache' --cached directml
[ ! -e "$GPUCERT_CACHE" ] || fail "--cached made the cache"

# npm fails, and npm brings another file.
printf '#!/bin/sh\necho no network >&2\nexit 1\n' >"$folder/doubles/npm"
chmod +x "$folder/doubles/npm"
expect 77 'npm cannot fetch' directml
expect 77 'no network' direct3d
for file in DirectML.dll dxcompiler.dll dxil.dll; do
	echo "not Microsoft's" >"$folder/package/bin/napi-v6/win32/x64/$file"
done
printf '#!/bin/sh\nexec tar -czf package.tgz -C "%s" package\n' "$folder" >"$folder/doubles/npm"
expect 77 'holds another DirectML.dll' directml
[ ! -e "$microsoft" ] || fail "another DirectML.dll was kept"

# The build: what it makes is kept beside DirectML.dll, the root is not changed, and a failure is told.
mkdir -p "$microsoft/directml"
echo directml >"$microsoft/directml/directml.dll"
ln -s "$real_root" "$GPUCERT_CACHE/"
echo 'dpkg --version >/dev/null && echo built >/build/wined3d.dll && echo built >/etc/changed' >"$folder/scripts/build-wined3d.sh"
expect 77 'not in the cache' --cached direct3d
expect 0 direct3d direct3d
built=$(cat "$folder/out.txt")
[ "$(cat "$built/wined3d.dll" "$built/directml.dll")" = "$(printf 'built\ndirectml')" ] || fail "$built holds something else"
[ ! -e "$real_root/etc/changed" ] || fail "the root was changed"
[ ! -e "$built.new" ] || fail "$built.new is left"
expect 0 "$built" --cached direct3d
echo 'echo no such source; exit 1' >"$folder/scripts/build-wined3d.sh"
expect 77 'no such source' direct3d
[ "$(find "$GPUCERT_CACHE" -name '*.new' | wc -l)" -eq 0 ] || fail "the failed build is left"
echo ok
