#!/bin/sh
# SPDX-License-Identifier: MIT
# wine_video.sh BUILD: probe-vulkanvideo as a Windows program under Wine, whose Vulkan hands on to the double of a Linux driver; the stream is
# decoded by verify-video. The program is that of the build tree "windows" beside BUILD, or of GPUCERT_WINDOWS_PROGRAMS; where it or
# Wine's root is missing the test is skipped (77).
set -eu

build=$1
here=$(dirname "$0")
programs=${GPUCERT_WINDOWS_PROGRAMS:-$(dirname "$build")/windows}
probe=$programs/libexec/gpucert/probe-vulkanvideo.exe
driver=$build/tests/libdouble_vulkan.so

fail() {
	echo "wine_video: $*" >&2
	exit 1
}

[ -e "$probe" ] || {
	echo "skipped: $probe is not built (preset \"windows\")"
	exit 77
}
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

# Wine's root has the double where it is, and none of the libraries that it needs.
mkdir "$work/libraries"
ldd "$driver" | sed -n 's/^.*\(libuv\|libsodium\|libnettle\)\(.*\) => \([^ ]*\) .*$/\3/p' | xargs -r -I{} cp -L {} "$work/libraries/"
export LD_LIBRARY_PATH="$work/libraries" VK_DRIVER_FILES="$build/tests/double_vulkan.json" VK_ICD_FILENAMES="$build/tests/double_vulkan.json"

# expect SETTINGS WORDS: what the document says with the double set so.
expect() {
	code=0
	GPUCERT_DOUBLE=$1 "$here/../../containers/wine/root/wine-run" --timeout 120 "$probe" --seed 7 >"$work/document" 2>"$work/errors" || code=$?
	[ "$code" -ne 77 ] || {
		cat "$work/errors"
		exit 77
	}
	[ "$code" -eq 0 ] || fail "$1: exit code $code: $(cat "$work/errors")"
	grep -q -e "$2" "$work/document" || fail "$1: no $2: $(cut -c 1-3000 "$work/document")"
}

expect video,drop=4 'h264: the stream holds 11 pictures'
expect video,lost=4 'vkQueueSubmit: VK_ERROR_DEVICE_LOST'
expect video,no-queue 'the device encodes nothing: .*no queue family encodes'
expect video,hevc,drop=4 'hevc: the stream holds 11 pictures'
expect video '"status":"encoded"'
sed -n 's/^.*"stream":"\([^"]*\)".*$/\1/p' "$work/document" | base64 -d >"$work/stream"
env -u LD_LIBRARY_PATH "$build/libexec/gpucert/verify-video" --codec h264 --seed 7 --width 64 --height 64 "$work/stream" >"$work/judgement"
grep -q '"status":"ok"' "$work/judgement" || fail "$(cat "$work/judgement")"
