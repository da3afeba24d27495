#!/bin/sh
# SPDX-License-Identifier: MIT
# Makes folders of DLLs for `gpucert run --node wine --windows-dlls DIR`, once, and prints the path:
#   make-dlls.sh [--cached] direct3d   directml.dll, and Wine's wined3d.dll built again so that DirectML works on it
#                                      (build-wined3d.sh): some minutes of a processor, and 2 GB of disk meanwhile
#   make-dlls.sh [--cached] directml   directml.dll alone, with which DirectML on the root's own Wine fails
#   make-dlls.sh [--cached] dxc        dxcompiler.dll and dxil.dll, the compiler of shaders
# DirectML and the compiler are Microsoft's and come from the npm package onnxruntime-node (114 MB), under its licence; none of
# it is part of gpucert. Exit code 77 and the reason: it cannot be had on this machine; with --cached also: it is not there yet.
# The cache is that of make-root.sh.
set -eu

package=onnxruntime-node@1.30.0
directml_sha256=234e8898778cdec88d3cb0539508273494082812c968699f3de665a018971625

wine_sources=$(cd "$(dirname "$0")" && pwd)
. "$wine_sources/cache.sh"

cannot() {
	echo "make-dlls.sh: no $what: $1" >&2
	exit 77
}

only_cached=no
if [ "${1:-}" = --cached ]; then
	only_cached=yes
	shift
fi
what=${1:-}
microsoft=$cache/$package
build_hash=$(sha256sum <"$wine_sources/build-wined3d.sh")
case $what in
directml | dxc) folder=$microsoft/$what ;;
direct3d) folder=$wine_root-direct3d-$(expr "$build_hash" : '\(.\{16\}\)') ;;
*)
	echo "usage: make-dlls.sh [--cached] direct3d|directml|dxc" >&2
	exit 2
	;;
esac

# Microsoft's files, by npm.
fetch() {
	command -v npm >/dev/null || cannot "npm is not installed"
	new=$microsoft.new
	trap 'rm -rf "$new"' EXIT
	rm -rf "$new"
	mkdir -p "$new/directml" "$new/dxc"
	(cd "$new" && npm pack --loglevel error --fetch-retries 1 "$package" >/dev/null 2>"$microsoft.log" && tar -xzf ./*.tgz) || {
		tail -n 5 "$microsoft.log" >&2
		cannot "npm cannot fetch $package, see $microsoft.log"
	}
	files=$new/package/bin/napi-v6/win32/x64
	echo "$directml_sha256  $files/DirectML.dll" | sha256sum --check --status || cannot "$package holds another DirectML.dll"
	mv "$files/DirectML.dll" "$new/directml/directml.dll"
	mv "$files/dxcompiler.dll" "$files/dxil.dll" "$new/dxc"
	rm -rf "$new/package" "$new"/*.tgz
	mv "$new" "$microsoft"
}

# wined3d.dll, in a copy of the root that is thrown away.
build() {
	[ "$(id -u)" -eq 0 ] || cannot "root is needed to build wined3d.dll (chroot, mounts)"
	root=$("$wine_sources/make-root.sh" --check) || exit
	new=$folder.new
	log=$folder.log
	trap 'rm -rf "$new"' EXIT
	rm -rf "$new"
	mkdir -p "$new/upper/build" "$new/work" "$new/root" "$new/dlls"
	cp "$wine_sources/build-wined3d.sh" "$new/upper/build/"
	# shellcheck disable=SC2016 # the inner shell expands these
	nice -n 10 unshare --mount --pid --fork --kill-child --propagation private -- sh -euc '
		mount -t overlay -o "lowerdir=$1,upperdir=$2/upper,workdir=$2/work" overlay "$2/root"
		mount -t proc proc "$2/root/proc"
		mount --rbind /dev "$2/root/dev"
		cp /etc/resolv.conf "$2/root/etc/resolv.conf"
		exec timeout 3600 chroot "$2/root" sh /build/build-wined3d.sh' build "$root" "$new" </dev/null >"$log" 2>&1 || {
		tail -n 25 "$log" >&2
		cannot "building it failed, see $log"
	}
	cp "$new/upper/build/wined3d.dll" "$microsoft/directml/directml.dll" "$new/dlls"
	mv "$new/dlls" "$folder"
}

if [ ! -d "$folder" ]; then
	[ "$only_cached" = no ] || cannot "it is not in the cache; $0 $what makes it"
	mkdir -p "$cache"
	exec 9>"$cache/dlls.lock"
	flock 9
	[ -d "$microsoft" ] || fetch
	[ "$what" != direct3d ] || [ -d "$folder" ] || build # not where somebody else made it meanwhile
fi
echo "$folder"
