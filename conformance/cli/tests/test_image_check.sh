#!/bin/sh
# SPDX-License-Identifier: MIT
# `gpucert image check` as its users see it: what it says of images and hosts (golden outputs, which GPUCERT_UPDATE_GOLDEN writes
# anew), its exit codes, and what it refuses. Layouts are made here, without layers.
. "$(dirname "$0")/lib.sh"
. "$(dirname "$0")/layout.sh"

source=$2
validate=$3
hosts=$source/containers/judging/compat/tests/hosts
nodes=$source/discovery/nodes
golden=$source/conformance/cli/tests/golden

# linux LAYOUT VARIABLES
linux() {
	entry "$1" '{"os":"linux","architecture":"amd64","config":{"Env":['"$2"']},"rootfs":{"type":"layers","diff_ids":[]}}'
}

# windows LAYOUT BUILD
windows() {
	entry "$1" '{"os":"windows","architecture":"amd64","os.version":"'"$2"'","config":{"Labels":{"org.opencontainers.image.base.name":"mcr.microsoft.com/windows/server:ltsc2022"}},"rootfs":{"type":"layers","diff_ids":[]}}' \
		'{"os":"windows","architecture":"amd64","os.version":"'"$2"'"}'
}

# expect_golden CODE NAME ARGUMENT...: exit code and output; NAME.json is the same with --json.
expect_golden() {
	code=$1
	name=$2
	shift 2
	expect_exit "$code" gpucert image check "$@"
	cp "$work/out" "$work/$name.txt"
	[ -z "${GPUCERT_UPDATE_GOLDEN:-}" ] || cp "$work/out" "$golden/$name.txt"
	diff -u "$golden/$name.txt" "$work/$name.txt" >&2 || complain "$name: it says something else"
	[ ! -s "$work/err" ] || complain "$name: it complains"
	expect_exit "$code" gpucert image check --json "$@"
	cp "$work/out" "$work/$name.json"
}

cd "$work"
expect_golden 5 windows-11-any --host "$hosts/windows-11-25h2.json" --platform windows/amd64:10.0.20348.2582
expect_golden 4 windows-11-containerd --host "$hosts/windows-11-25h2.json" --platform windows/amd64:10.0.20348.2582 --runtime containerd-2.x
expect_golden 5 windows-11-docker --host "$hosts/windows-11-25h2.json" --platform windows/amd64:10.0.20348.2582 --runtime docker
expect_golden 0 server-2022 --host "$hosts/windows-server-2022.json" --platform windows/amd64:10.0.20348.1 \
	--device-string 'vpci-location-path://PCIROOT(0)#PCI(0300)'
expect_golden 4 server-2022-hyperv --host "$hosts/windows-server-2022.json" --platform windows/amd64:10.0.20348.1 \
	--isolation hyperv --device-string class/5B45201D-F2F2-4F3B-85BB-30FF1F953599
expect_golden 4 server-2022-old --host "$hosts/windows-server-2022.json" --platform windows/amd64:10.0.17763.5329
expect_golden 1 server-2022-newer --host "$hosts/windows-server-2022.json" --platform windows/amd64:10.0.26100.1742
expect_golden 1 node-linux --host "$nodes/linux-2x-tesla-t4.json" --platform windows/amd64:10.0.20348.1

linux layout-new '"CUDA_VERSION=12.4.1","NVIDIA_REQUIRE_CUDA=cuda>=12.4 brand=tesla,driver>=535,driver<536","NVIDIA_DRIVER_CAPABILITIES=compute,utility"'
linux layout-old '"CUDA_VERSION=13.2.1","NVIDIA_REQUIRE_CUDA=cuda>=13.2 brand=tesla,driver>=535,driver<536"'
linux layout-broken '"NVIDIA_REQUIRE_CUDA=cuda>=twelve"'
expect_golden 0 cuda-h200 --host "$hosts/linux-h200.json" oci:layout-new
expect_golden 1 cuda-h200-old --host "$hosts/linux-h200.json" oci:layout-old
expect_golden 1 cuda-t4-old --host "$nodes/linux-2x-tesla-t4.json" oci:layout-old
expect_golden 1 cuda-broken --host "$hosts/linux-h200.json" oci:layout-broken
expect_golden 1 cuda-amd --host "$nodes/linux-intel-amd.json" oci:layout-new

windows layout-windows 10.0.17763.5329
windows layout-windows 10.0.20348.887
windows layout-windows 10.0.20348.2582
expect_golden 0 index-2022 --host "$hosts/windows-server-2022.json" oci:layout-windows
expect_golden 1 index-25h2 --host "$hosts/windows-11-25h2.json" --runtime containerd-2.x oci:layout-windows
expect_golden 1 index-linux --host "$hosts/linux-h200.json" oci:layout-windows
expect_golden 4 index-chosen --host "$hosts/windows-server-2022.json" --platform windows/amd64:10.0.17763.5329 oci:layout-windows
node "$validate" "$source/containers/judging/compat/schema/image-check.schema.json" ./*.json >&2 || complain "--json prints what is not valid"
[ "$(find . -maxdepth 1 -name '*.json' | wc -l)" -eq 17 ] || complain "not every answer was printed as JSON"

expect_exit 0 gpucert image check --show-host
node "$validate" "$source/containers/judging/compat/schema/host.schema.json" "$work/out" >&2 || complain "the host is not valid JSON"
cp "$work/out" "$work/host.json"
expect_exit 0 gpucert image check --host "$work/host.json" --platform "linux/$(dpkg --print-architecture)"
expect_exit 0 gpucert image check --list-rules
expect_says "windows.build"
expect_says "moby #53397"
expect_exit 0 gpucert image check --list-rules --json
node -e 'const rules = JSON.parse(require("fs").readFileSync(process.argv[1]));
	process.exit(rules.length > 20 && rules.every((r) => r.id && r.says && r.source) ? 0 : 1);' "$work/out" ||
	complain "--list-rules --json lacks rules or members"

expect_exit 2 gpucert image check
expect_says "name an image"
expect_exit 2 gpucert image check --platform windows
expect_says "OS/ARCHITECTURE"
expect_exit 2 gpucert image check --platform linux/amd64/v3/x:1
expect_exit 2 gpucert image check --platform linux/
expect_exit 2 gpucert image check --platform linux/amd64 --runtime containerd-9
expect_exit 3 gpucert image check --host "$work/nowhere.json" --platform linux/amd64
expect_says "nowhere.json"
expect_exit 3 gpucert image check "oci:$work/nowhere"
echo '{"schema": "gpucert-host/1", "os": "linux", "gpus": [{"vendor": "nvidia", "driverVersion": 5}]}' >"$work/bad.json"
expect_exit 3 gpucert image check --host "$work/bad.json" --platform linux/amd64
expect_says "gpus[0].driverVersion: expected string"
echo '{"schema": "gpucert-host/1", "os": "linux", "os": "windows"}' >"$work/twice.json"
expect_exit 3 gpucert image check --host "$work/twice.json" --platform linux/amd64
expect_says "twice.json: os: appears twice"
linux "$work/layout-amd64" '"A=b"'
expect_exit 3 gpucert image check --platform linux/arm64 "oci:$work/layout-amd64"
expect_says "layout-amd64: only for linux/amd64, and not for linux/arm64"
expect_exit 0 gpucert image check --platform linux/x86_64 --host "$hosts/linux-h200.json" "oci:$work/layout-amd64"
printf '{"schema": "gpucert-host/1", "os": "linux", "architecture": "\\u001b[31m"}' >"$work/rude.json"
expect_exit 1 gpucert image check --host "$work/rude.json" --platform linux/amd64
expect_says '\x1b[31m'
! grep -q "$(printf '\033')" "$work/out" || complain "an escape sequence reaches the terminal"
