#!/bin/bash
# SPDX-License-Identifier: MIT
# nvidia_libraries.sh BUILD WORK: probe-cuda, probe-nvml, probe-nvenc and probe-visibility with the user-mode libraries of NVIDIA's own driver on a
# machine without its kernel module, where these fail as they do in a container without a device. The libraries are packages of
# Debian's non-free section, unpacked below WORK and never installed. Skips (77) where they cannot be had.
#
# As root these libraries make /dev/nvidiactl and others, even where no kernel module answers. So the probes run in a mount
# namespace whose /dev is a file system of its own; and probe-visibility must tell the nodes that were there before.
set -eu

build=$1
work=$2
programs=$build/libexec/gpucert
packages="libcuda1 libnvcuvid1 libnvidia-encode1 libnvidia-ml1 libnvidia-ptxjitcompiler1"

skip() {
	echo "nvidia_libraries: $*" >&2
	exit 77
}
fail() {
	echo "nvidia_libraries: $*" >&2
	exit 1
}

fetch() {
	local apt=$work/apt
	rm -rf "$work"
	mkdir -p "$apt/lists/partial" "$apt/cache/archives/partial" "$apt/sources" "$work/packages" "$work/unpacked"
	chmod 755 "$work" "$work/packages"
	cat >"$apt/sources/non-free.sources" <<-END
		Types: deb
		URIs: http://deb.debian.org/debian
		Suites: bookworm
		Components: non-free
		Signed-By: /usr/share/keyrings/debian-archive-keyring.gpg
	END
	local options="-o Dir::Etc::SourceList=$apt/none -o Dir::Etc::SourceParts=$apt/sources -o Dir::State::Lists=$apt/lists
		-o Dir::Cache=$apt/cache -o Acquire::Retries=1 -o Acquire::http::Timeout=20 -o APT::Sandbox::User=root"
	# shellcheck disable=SC2086
	(cd "$work/packages" && apt-get $options update && apt-get $options download $packages) >"$work/log" 2>&1 ||
		skip "the packages of NVIDIA's libraries cannot be fetched"
	for package in "$work"/packages/*.deb; do
		dpkg -x "$package" "$work/unpacked"
	done
	echo "$packages" >"$work/complete"
}

[ "$(uname -m)" = x86_64 ] || skip "these packages are for x86-64"
[ "$(id -u)" -eq 0 ] || skip "a private /dev needs root"
[ ! -e /proc/driver/nvidia ] || skip "this machine has NVIDIA's kernel module"
for tool in apt-get dpkg unshare node; do
	command -v "$tool" >/dev/null || skip "there is no $tool"
done
unshare --mount true 2>/dev/null || skip "no mount namespace can be made"
[ "$(cat "$work/complete" 2>/dev/null)" = "$packages" ] || fetch
library=$(find "$work/unpacked" -name 'libcuda.so.1' | head -n 1)
[ -n "$library" ] || fail "the packages hold no libcuda.so.1"

# probe PROGRAM: its document, run in a /dev of its own, where the nodes that were made are listed in $work/made.
cat >"$work/run.sh" <<-'END'
	set -eu
	mount -t tmpfs tmpfs /dev
	mknod -m 666 /dev/null c 1 3
	mknod -m 666 /dev/zero c 1 5
	mknod -m 666 /dev/urandom c 1 9
	status=0
	LSAN_OPTIONS=detect_leaks=0 LD_LIBRARY_PATH=$2 "$1" >"$3/document" || status=$?
	ls /dev >"$3/made"
	exit "$status"
END
probe() {
	unshare --mount --propagation private sh "$work/run.sh" "$programs/$1" "$(dirname "$library")" "$work" || fail "$1 ended with $?"
}
# expect WHAT EXPRESSION: of the document d.
expect() {
	node -e 'const d = JSON.parse(require("fs").readFileSync(process.argv[1])); process.exit(eval(process.argv[2]) ? 0 : 1)' \
		"$work/document" "$2" || fail "$1: $(cat "$work/document")"
}

before=$(ls /dev)
probe probe-cuda
expect "the library is not the unpacked one" "d.api.loader.path.startsWith('$work/unpacked/') && /^1[0-9]\./.test(d.api.loader.version)"
expect "no device is a driver that works" "d.api.status === 'ok' && d.devices.length === 0"
expect "the result is not named" "d.api.messages.some((m) => m.startsWith('cuInit: CUDA_ERROR_NO_DEVICE (100): '))"
expect "there is no work without a device" "d.work.status === 'unsupported' && !d.work.verified"
probe probe-nvml
expect "no kernel module is no driver" "d.api.status === 'unsupported' && d.api.missing === 'NVIDIA driver' && d.devices.length === 0"
expect "the result is not named" "d.api.reason.startsWith('nvmlInit: NVML_ERROR_DRIVER_NOT_LOADED (9): ')"
probe probe-nvenc
expect "the library is not the unpacked one" "d.api.loader.path.startsWith('$work/unpacked/') && /^1[1-9]\.[0-9]+$/.test(d.api.loader.version)"
expect "a library that tells its version is no device" "d.api.status === 'ok' && d.devices.length === 0"
expect "there is no stream without a device" "d.work.status === 'unsupported' && d.work.video === undefined"
probe probe-visibility
expect "a node of the library's own making is told" "d.nodes.length === 0"
expect "an API is told wrongly" "d.apis.every((a) => a.api.status !== 'failed')"
grep -q nvidia "$work/made" && echo "the libraries made: $(grep nvidia "$work/made" | tr '\n' ' ')"
[ "$(ls /dev)" = "$before" ] || fail "the machine's own /dev was changed"
