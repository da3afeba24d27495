#!/bin/sh
# SPDX-License-Identifier: MIT
# installed_programs.sh PREFIX: every program works from where the tree was moved to, in an empty environment
# and a folder of its own, and a run finds the plugin and the probes that were installed with it.
set -eu
prefix=$1

place=$(mktemp -d)
trap 'rm -rf "$place"' EXIT
cd "$place"

# run COMMAND...: its output is in ./out.
run() {
	env -i PATH="$prefix/bin:/usr/bin:/bin" "$@" >out 2>&1 || {
		echo "exit code $?: $*"
		cat out
		exit 1
	}
}

# says TEXT: the last command's output holds it.
says() {
	grep -qF -- "$1" out || {
		echo "'$1' is not in the output:"
		cat out
		exit 1
	}
}

for program in "$prefix"/bin/* "$prefix"/libexec/gpucert/probe-*; do
	run "$program" --version
	says "$(basename "$program") "
	run "$program" --help
	says "Usage: $(basename "$program")"
done
run gpucert list
says isolation.single-device
run gpucert show api.vulkan
run gpu-discovery --node "$prefix/share/gpucert/nodes/windows-4x-tesla-t4.json" --require 4
says "Tesla T4"
run device-plugin-gpu --print-config
says pluginDir
run device-plugin-gpu --config "$prefix/share/gpucert/device-plugin-gpu/device-plugin-gpu.yaml" --print-config
run device-plugin-wddm --config "$prefix/share/gpucert/directx-device-plugins/wddm.yaml" --print-config
says additionalMountsWow64
run device-plugin-mcdm --config "$prefix/share/gpucert/directx-device-plugins/mcdm.yaml" --print-config

# A run starts it for each check: a library of registries or archives costs it 40 ms.
run readelf -d "$prefix/libexec/gpucert/run-check"
says NEEDED
! grep -E 'libcurl|libarchive' out || exit 1

for schema in claims comparison expectations fleet fleet-patch hcs journal matrix node probe product report verdict verification; do
	[ -s "$prefix/share/gpucert/schema/$schema.schema.json" ] || {
		echo "the schema of a $schema is not installed"
		exit 1
	}
done

for probe in "$prefix"/libexec/gpucert/probe-*; do
	run "$probe" --list
	says '"probe"'
done

run gpucert run --launcher process --min-run 2 --verbose environment registration.version
says registration.version
says device-plugin-gpu
grep -q '"id": *"registration.version"' gpucert-report/report.json
if grep -rlF "$BUILD_DIR/bin" gpucert-report; then
	echo "the run used programs of the build tree, or names them"
	exit 1
fi
run gpucert report gpucert-report
run gpucert run --launcher process --dry-run --plugin-profile nvidia --attach "$place" registration.version
