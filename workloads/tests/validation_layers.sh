#!/bin/sh
# SPDX-License-Identifier: MIT
# validation_layers.sh PROBE DRIVER.json SOURCE BUILD: Khronos's validation layers find nothing wrong with what probe-vulkanvideo asks of a
# driver (the double), and its own declarations of Vulkan Video are those of Khronos's header. Layers that know the final encode
# extensions are Debian 13's (1.4.309): those of Debian 12 (1.3.239) know the provisional ones alone. They, their C library and the
# header are unpacked once into the cache, never installed; where they cannot be had the test is skipped (77). GPUCERT_CACHE and
# GPUCERT_DEBIAN_MIRROR as for make-dependencies.sh.
set -eu

probe=$1
driver=$2
source=$3
build=$4
mirror=${GPUCERT_DEBIAN_MIRROR:-http://deb.debian.org/debian}
cache=${GPUCERT_CACHE:-$([ "$(id -u)" -eq 0 ] && echo /var/cache/gpucert || echo "${HOME:?}/.cache/gpucert")}
packages="vulkan-validationlayers libvulkan1 libvulkan-dev libc6 libgcc-s1 libstdc++6"
root=$cache/vulkan-layers-13

skip() {
	echo "skipped: $*"
	exit 77
}

fail() {
	echo "validation_layers: $*" >&2
	exit 1
}

private_apt() {
	apt-get -q -o Dir::Etc::SourceList="$work/sources.list" -o Dir::Etc::SourceParts=/dev/null -o Dir::State::Lists="$work/lists" \
		-o Dir::State::status=/dev/null -o Dir::Cache="$work" -o APT::Sandbox::User=root "$@"
}

unpack() {
	mkdir -p "$work/lists/partial" "$work/archives/partial"
	echo "deb [signed-by=/usr/share/keyrings/debian-archive-keyring.gpg] $mirror trixie main" >"$work/sources.list"
	private_apt update
	# shellcheck disable=SC2086 # one word for each package
	(cd "$work" && private_apt download $packages)
	for package in "$work"/*.deb; do
		dpkg -x "$package" "$work/root"
	done
	mkdir -p "$cache"
	mv "$work/root" "$root.$$"
	mv "$root.$$" "$root"
}

# The documents of a run under the layers; what they complain about is in $work/errors.
run() {
	"$libraries/$linker" --library-path "$libraries:/usr/lib/$triplet:/lib/$triplet" "$probe" --seed 7 2>"$work/errors"
}

[ "$(uname -m)" = x86_64 ] || skip "the layers were looked at on x86_64 alone"
triplet=x86_64-linux-gnu
linker=ld-linux-x86-64.so.2
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
if [ ! -d "$root" ]; then
	unpack >"$work/log" 2>&1 || {
		tail -n 3 "$work/log"
		skip "the packages cannot be had"
	}
fi
libraries=$root/usr/lib/$triplet

cjson=$(pkg-config --cflags libcjson)
# shellcheck disable=SC2086 # words
"${CC:-cc}" -std=c11 -fsyntax-only -I"$source" -isystem "$build" -isystem "$root/usr/include" $cjson "$source/workloads/tests/vulkanvideo_abi.c" ||
	fail "the declarations are not those of Khronos's header"

mkdir "$work/layers"
sed "s#\"library_path\": .*#\"library_path\": \"$libraries/libVkLayer_khronos_validation.so\",#" \
	"$root/usr/share/vulkan/explicit_layer.d/VkLayer_khronos_validation.json" >"$work/layers/layer.json"
export VK_DRIVER_FILES="$driver" VK_LAYER_PATH="$work/layers" VK_INSTANCE_LAYERS=VK_LAYER_KHRONOS_validation

for word in '' ,copies ,default-rate ,high ,override ,lost=4 ,hevc ,hevc,default-rate ,hevc,large-transforms ,av1 \
	,av1,default-rate ,av1,golden ,av1,no-points ,av1,no-primary; do
	GPUCERT_DOUBLE=video$word run >"$work/document" || fail "probe-vulkanvideo ended with $?"
	grep -q 'adding layers' "$work/document" || fail "the layers were not there: $(cat "$work/document" "$work/errors")"
	if grep 'Validation Error' -A 2 "$work/errors"; then
		fail "video$word: the layers complain"
	fi
	case $word in
	,lost=4) wanted='VK_ERROR_DEVICE_LOST' ;;
	*) wanted='"status":"encoded"' ;;
	esac
	grep -q -e "$wanted" "$work/document" || fail "video$word: no $wanted: $(cut -c 1-2000 "$work/document")"
done
