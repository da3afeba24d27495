#!/bin/sh
# SPDX-License-Identifier: MIT
# The virtual machine: its GPU computes through the render node and nothing reaches the second one, wrong plugins fail there, and
# nothing is left when it does not start, is ended, or is killed.
# usage: test_vm_run.sh BIN SOURCES SCRIPTED-PLUGIN README.MJS
. "$(dirname "$0")/lib.sh"
scripted=$3
cache=$("$2/containers/vm/make-root.sh" --check) || skip "no virtual machine"
cd "$work" # which the guest sees

# vm REPORT EXIT-CODE ARGUMENT...
vm() {
	out=$work/$1
	expected=$2
	shift 2
	expect_exit "$expected" gpucert run --node vm --out "$out" "$@"
}

# left: what runs of this test left behind; QEMU names the run's folder in its arguments.
left() {
	for folder in "$cache".run.*; do
		if grep -qsF "$work" "$folder/settings"; then echo "$folder"; fi
	done
}

# Nothing in it can start.
GPUCERT_VM_BOOT_SECONDS=1 vm slow 3 environment
expect_says "the virtual machine did not start within 1 s"
[ -z "$(left)" ] || complain "a machine that did not start left $(left)"
vm usage 2 --vm-memory 12 environment
GPUCERT_CACHE=/proc/no vm cache 3 environment

# Killed: QEMU ends with it, and the next run removes its folder.
gpucert run --node vm --out "$work/killed" environment >"$work/out" 2>&1 &
killed=$!
until [ -s "$work/killed/vm-console.log" ]; do
	kill -0 $killed || break
	sleep 0.2
done
folder=$(left)
kill -KILL $killed
wait $killed 2>/dev/null || :
while pgrep -f "path=$work/killed" >/dev/null; do sleep 0.2; done

# A run, and SIGTERM after its first check.
gpucert run --node vm --out "$work/ended" registration >"$work/out" 2>"$work/err" &
ended=$!
until grep -qs '"outcome"' "$work/ended/journal.ndjson"; do
	kill -0 $ended || break
	sleep 0.2
done
kill -TERM $ended
code=0
wait $ended || code=$?
[ $code -eq 4 ] || complain "a run that was ended: exit code $code"
[ ! -e "$folder" ] || complain "the folder of a run that was killed was left"
[ -z "$(left)" ] || complain "a run that was ended left $(left)"
expect_report "$work/ended/report.json" "r.environment.node.kind" vm

# A whole run: the GPU computes, only those who were granted it open it, and it is unplugged and plugged in.
vm gpu 0 --require-conformant
expect_says "a virtual machine (QEMU"
report=$work/gpu/report.json
expect_report "$report" "r.environment.devices.filter((d) => d.kind === 'virtual').map((d) => d.apis.join('+')).join()" "vulkan+opengl,"
expect_report "$report" "r.environment.drivers.find((d) => d.model === 'virtual').software" false
for check in environment.container api.vulkan api.opengl isolation.single-device isolation.two-containers isolation.residue health.device-fails \
	health.device-returns health.others-stay; do
	expect_report "$report" "outcome('$check')" pass
done
expect_report "$report" "r.environment.devices[0].ran.map((one) => one.api).sort().join()" "ffmpeg,opengl,vulkan,vulkanvideo"
# What docs/reference/matrix.md shows is what the programs print.
expect_exit 0 node "$4" "$bin/.." --check vm="$work/gpu"

# Wrong plugins: they hand out the driver's files as the reference plugin did above, without one library, and these device nodes.
cp "$scripted" "$work/plugin"
# wrong NAME EXIT-CODE CHECK OUTCOME LIBRARY NODE...
wrong() {
	name=$1
	code=$2
	check=$3
	outcome=$4
	shift 4
	node -e '
		const {readFileSync, readdirSync, writeFileSync} = require("fs");
		const [folder, out, library, ...nodes] = process.argv.slice(1);
		const file = readdirSync(folder).find((name) => name.endsWith("0000_00_01.0.container.json"));
		const mounts = JSON.parse(readFileSync(`${folder}/${file}`)).mounts
			.filter((mount) => mount.granted && !mount.path.endsWith(`/${library}`))
			.map((mount) => ({host_path: mount.hostPath, container_path: mount.path, read_only: true}));
		const devices = nodes.map((path) => ({host_path: path, container_path: path, permissions: "rw"}));
		writeFileSync(out, JSON.stringify({plugins: [{resource: "example.com/gpu", devices: [{id: "0000:00:01.0"}],
			allocate: {once: {mounts, devices}}}]}));
	' "$work/gpu/evidence/isolation.single-device" "$work/$name.json" "$@"
	vm "$name" "$code" --plugin "./plugin $name.json {plugin-dir} {kubelet-socket}" --resource example.com/gpu "$check"
	expect_report "$work/$name/report.json" "outcome('$check')" "$outcome"
}
wrong leak 1 isolation.single-device fail none /dev/dri/renderD128 /dev/dri/renderD129
wrong library 1 api.vulkan fail libxcb-dri3.so.0 /dev/dri/renderD128
expect_says libxcb-dri3.so.0
# Without a device node it is unknown what the id stands for; Venus shows no device.
wrong nothing 5 api.vulkan unsupported none
expect_says "containers on this runtime saw no device"
