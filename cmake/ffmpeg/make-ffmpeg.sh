#!/bin/sh
# SPDX-License-Identifier: MIT
# usage: make-ffmpeg.sh linux|windows [--copy FILE]
# Builds a small ffmpeg once, from Debian's source package, and prints its path: H.264 by NVENC, VA-API and Media SDK (Windows:
# NVENC and Media Foundation), and on Linux by OpenH264 on a processor, and frames on a device of Vulkan; nothing under the GPL.
# Takes three to five minutes of processor time. Exit code 77: it cannot be made here, for instance without a network. With --copy FILE nothing is built: what
# is there is copied to FILE, for the probe image.
# GPUCERT_CACHE names the cache (otherwise /var/cache/gpucert, or ~/.cache/gpucert where the user is not root);
# GPUCERT_DEBIAN_MIRROR names the mirror.
set -eu

system=${1:?usage: make-ffmpeg.sh linux|windows [--copy FILE]}
mode=${2:-}
if [ -n "${GPUCERT_CACHE:-}" ]; then
	cache=$GPUCERT_CACHE
elif [ "$(id -u)" -eq 0 ]; then
	cache=/var/cache/gpucert
else
	cache=${HOME:?}/.cache/gpucert
fi
case $system in
linux)
	compiler=$(command -v gcc || true) name=ffmpeg packages="libmfx-dev libva-dev libdrm-dev libopenh264-dev libffmpeg-nvenc-dev libvulkan-dev glslang-dev"
	encoders=h264_nvenc,h264_vaapi,h264_qsv,libopenh264,rawvideo
	flags="--enable-vaapi --enable-libdrm --enable-libmfx --enable-vulkan --enable-libglslang --enable-libopenh264
		--enable-hwaccel=h264_nvdec,h264_vaapi --enable-filter=hwdownload,scale_vulkan"
	;;
windows)
	compiler=$(command -v x86_64-w64-mingw32ucrt-gcc || command -v x86_64-w64-mingw32-gcc || true) name=ffmpeg.exe
	packages="libffmpeg-nvenc-dev" encoders=h264_nvenc,h264_mf,rawvideo
	flags="--enable-cross-compile --arch=x86_64 --target-os=mingw32 --cross-prefix=${compiler%gcc} --pkg-config=pkg-config
		--enable-mediafoundation --enable-d3d11va --enable-hwaccel=h264_nvdec,h264_d3d11va,h264_d3d11va2 --extra-ldflags=-static"
	;;
*)
	echo "make-ffmpeg.sh: '$system': expected linux or windows" >&2
	exit 2
	;;
esac
cannot() {
	echo "make-ffmpeg.sh: $1" >&2
	exit 77
}
# A build belongs to what it was made from.
hash=$({ cat "$0" && { [ -z "$compiler" ] || "$compiler" --version; }; } | sha256sum)
made=$cache/ffmpeg-$system-$(expr "$hash" : '\(.\{16\}\)')
work=$made.work
log=$made.log
mirror=${GPUCERT_DEBIAN_MIRROR:-http://deb.debian.org/debian}

# apt with a configuration of its own: the machine's stays as it is. It verifies signatures and checksums.
private_apt() {
	apt-get -q -o Dir::Etc::SourceList="$work/apt/sources.list" -o Dir::Etc::SourceParts=/dev/null \
		-o Dir::State::Lists="$work/apt/lists" -o Dir::Cache="$work/apt" -o APT::Sandbox::User=root "$@"
}

fetch() {
	rm -rf "$work" "$made"
	mkdir -p "$work/apt/lists/partial" "$work/apt/archives/partial" "$work/build"
	echo "deb-src [signed-by=/usr/share/keyrings/debian-archive-keyring.gpg] $mirror bookworm main" >"$work/apt/sources.list"
	private_apt update
	(cd "$work" && private_apt source --download-only --only-source ffmpeg)
	dpkg-source --no-check -x "$work"/ffmpeg_*.dsc "$work/source"
}

# Headers of NVENC hold nothing of the platform, but a cross compiler does not look where they are.
build() {
	mkdir -p "$work/include"
	ln -s /usr/include/ffnvcodec "$work/include/ffnvcodec"
	cd "$work/build"
	# shellcheck disable=SC2086 # words
	"$work/source/configure" --disable-everything --disable-autodetect --enable-small --disable-debug --disable-doc \
		--disable-network --disable-ffplay --disable-ffprobe --disable-x86asm --enable-ffnvcodec --enable-nvenc --enable-nvdec \
		--enable-encoder=$encoders --enable-decoder=rawvideo,h264 --enable-parser=h264 --enable-demuxer=rawvideo,h264 \
		--enable-muxer=rawvideo,h264 --enable-protocol=pipe --enable-filter=scale,format,hwupload,null \
		--extra-cflags="-I$work/include" $flags
	make -j2 "$name"
	mkdir -p "$work/made"
	cp "$name" "$work/source/COPYING.LGPLv2.1" "$work/made/"
	cd /
	mv "$work/made" "$made"
}

if [ "$mode" = --copy ]; then
	file=${3:?--copy needs a file}
	[ ! -f "$made/$name" ] || cmp -s "$made/$name" "$file" || cp "$made/$name" "$file"
	exit 0
fi
if [ "$mode" = --make ]; then # in a process of its own, since errors do not end a function that is a condition
	case $4 in
	fetch) fetch ;;
	build) build ;;
	esac
	exit 0
fi
if [ ! -f "$made/$name" ]; then
	[ -n "$compiler" ] || cannot "there is no compiler for $system"
	# shellcheck disable=SC2086 # words
	dpkg-query -W $packages >/dev/null 2>&1 || cannot "a package is missing: apt-get install --no-install-recommends $packages"
	mkdir -p "$cache"
	exec 9>"$made.lock"
	flock 9
fi
if [ ! -f "$made/$name" ]; then # nor made by somebody else meanwhile
	echo "Building a small ffmpeg: once, three minutes or more (log: $log)" >&2
	"$0" "$system" --make - fetch </dev/null >"$log" 2>&1 9>&- || cannot "Debian's source of ffmpeg cannot be had, see $log"
	if ! "$0" "$system" --make - build </dev/null >>"$log" 2>&1 9>&-; then
		tail -n 25 "$log" >&2
		echo "make-ffmpeg.sh: building ffmpeg failed, see $log" >&2
		exit 1
	fi
	rm -rf "$work"
fi
echo "$made/$name"
