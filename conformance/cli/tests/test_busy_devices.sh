#!/bin/sh
# SPDX-License-Identifier: MIT
# A run on a node whose pods hold devices leaves these alone. usage: test_busy_devices.sh BIN VALIDATE SCHEMAS
. "$(dirname "$0")/lib.sh"
validate=$2
schemas=$3
socket=$work/pods.sock
steady_memory

# with_pods [NAMESPACE/POD CONTAINER RESOURCE ID]... -- COMMAND...: with a kubelet that says so.
with_pods() { "$bin/../tests/pods-double" "$socket" "$@"; }

cat >"$work/plugin.json" <<E2
{"plugins": [{"resource": "example.com/gpu", "devices": [{"id": "gpu-0"}, {"id": "gpu-1"}, {"id": "gpu-2"}, {"id": "gpu-3", "health": "Unhealthy"}],
	"options": {"get_preferred_allocation_available": true, "pre_start_required": true},
	"touch": "$work/asked-{id}", "allocate": {"each": {"envs": {"GPU": "{id}"}}}},
	{"resource": "example.com/nic", "devices": [{"id": "nic-0"}, {"id": "nic-1"}, {"id": "nic-2"}],
	"touch": "$work/asked-{id}", "allocate": {"each": {"envs": {"NIC": "{id}"}}}}]}
E2
scripted="$bin/../tests/scripted-plugin '$work/plugin.json' {plugin-dir}"
run() { gpucert run --quiet --launcher process --plugin "$scripted" "$@"; }
suites="allocate preferred-allocation pre-start sharing list-and-watch.devices-present list-and-watch.no-storm"

# Nobody is asked without the option.
expect_exit 0 run --out "$work/plain" allocate.each-and-all
[ -e "$work/asked-gpu-0" ] || complain "gpu-0 is not asked for where nobody holds it"
expect_report "$work/plain/report.json" "r.environment.pods === undefined" true
rm "$work"/asked-*

# One of three is held, as is one that is unhealthy, and two of another resource: no call asks for them.
# shellcheck disable=SC2086
expect_exit 0 with_pods team-blue/train-x7 trainer example.com/gpu gpu-0 team-blue/train-x7 trainer example.com/gpu gpu-3 \
	default/other main example.com/nic nic-0 default/other main example.com/nic nic-1 default/other main example.com/tpu gpu-1 -- \
	gpucert run --quiet --launcher process --plugin "$scripted" --jobs 4 --out "$work/one" --pod-resources "$socket" $suites
for id in gpu-0 gpu-3 nic-0 nic-1; do
	[ ! -e "$work/asked-$id" ] || complain "$id was asked for although a pod holds it"
done
for id in gpu-1 gpu-2 nic-2; do
	[ -e "$work/asked-$id" ] || complain "$id was not asked for although it is free"
done
r=$work/one/report.json
expect_exit 0 node "$validate" "$schemas/report.schema.json" "$r"
expect_report "$r" "outcome('allocate.each-and-all')" pass
expect_report "$r" "r.checks.filter((c) => c.outcome === 'fail' || c.outcome === 'broken').map((c) => \`\${c.id}: \${c.reason}\`).join()" ""
expect_report "$r" "outcome('allocate.across-resources')" pass
expect_report "$r" "r.environment.pods.held.length" 5
expect_report "$r" "r.environment.pods.held[0].device" gpu-0
expect_report "$r" "r.checks.find((c) => c.id === 'allocate.each-and-all').notes[0]" \
	"left out: busy: gpu-0 is held by pod <namespace>/<pod>, container <container>"
! grep -rq "team-blue\|train-x7" "$work/one" || complain "the names of pods are stored"

# All are held, one of them by a replica of it: what needs devices is unsupported, and the rest runs.
rm "$work"/asked-*
expect_exit 0 with_pods default/train main example.com/gpu gpu-0 default/train main example.com/gpu gpu-1::0 \
	default/train main example.com/gpu gpu-2 -- \
	gpucert run --quiet --launcher process --plugin "$scripted" --resource example.com/gpu --out "$work/all" --include-host-identity \
	--pod-resources "$socket" allocate.each-and-all registration.version list-and-watch.ids list-and-watch.devices-present
set -- "$work"/asked-*
[ ! -e "$1" ] || complain "$1: it was asked for although a pod holds it"
r=$work/all/report.json
expect_report "$r" "outcome('allocate.each-and-all')" unsupported
expect_report "$r" "r.checks.find((c) => c.id === 'allocate.each-and-all').reason.split('; ')[1]" \
	"busy: gpu-1 is held by pod default/train, container main"
expect_report "$r" "outcome('list-and-watch.devices-present')" unsupported
expect_report "$r" "outcome('registration.version') + ' ' + outcome('list-and-watch.ids')" "pass pass"
expect_report "$r" "r.environment.pods.held[1].pod" default/train
expect_exit 0 node "$validate" "$schemas/report.schema.json" "$r"

# The project's own plugin: nothing computes on a device that a pod holds, also by an id of another resource that names it.
expect_exit 0 with_pods default/train main gpucert.internal/display lavapipe -- \
	gpucert run --quiet --launcher process --out "$work/own" --pod-resources "$socket" --include-host-identity api.vulkan api.opencl
r=$work/own/report.json
expect_report "$r" "outcome('api.opencl')" pass
expect_report "$r" "outcome('api.vulkan')" unsupported
expect_report "$r" "r.checks.find((c) => c.id === 'api.vulkan').reason" \
	"not tested: busy: lavapipe is held by pod default/train, container main"
expect_exit 5 with_pods default/train main vendor.example/gpu pocl -- \
	gpucert run --quiet --launcher process --out "$work/other" --pod-resources "$socket" api.opencl
expect_report "$work/other/report.json" "outcome('api.opencl')" unsupported
expect_report "$work/other/report.json" "r.environment.devices.some((d) => d.ran !== undefined)" false

# A node that is to be drained. Names are escaped where they are printed.
expect_exit 3 with_pods default/train main example.com/gpu gpu-0 "team/$(printf 'a\033[31mb')" c example.com/gpu gpu-1 -- \
	gpucert run --launcher process --plugin "$scripted" --out "$work/drained" --pod-resources "$socket" --drain-check registration
expect_says "--drain-check: pods hold devices of this node: gpu-0 of example.com/gpu by pod default/train, container main; gpu-1 of example.com/gpu by pod team/a\\x1b[31mb, container c"
[ ! -e "$work/drained" ] || complain "a run that was refused left a folder"
expect_exit 0 with_pods default/train main example.com/nic nic-0 -- \
	gpucert run --quiet --launcher process --plugin "$scripted" --out "$work/drained" --pod-resources "$socket" --drain-check \
	--resource example.com/gpu registration.version
expect_exit 3 with_pods default/train main example.com/nic nic-0 -- \
	gpucert run --launcher process --plugin "$scripted" --out "$work/any" --pod-resources "$socket" --drain-check registration
expect_exit 0 with_pods -- env GPUCERT_POD_RESOURCES="$socket" \
	gpucert run --quiet --launcher process --plugin "$scripted" --out "$work/free" --drain-check registration.version
expect_report "$work/free/report.json" "r.environment.pods.held.length" 0

# Nobody there, and what makes no sense.
expect_exit 3 gpucert run --pod-resources "$work/none.sock" registration
expect_says "--pod-resources: $work/none.sock: "
expect_exit 2 gpucert run --pod-resources relative.sock registration
expect_says "--pod-resources: relative.sock: "
expect_exit 2 gpucert run --drain-check registration
expect_says "--drain-check needs --pod-resources"
expect_exit 2 gpucert run --pod-resources "$socket" --node "$work/node.json" registration
expect_says "--pod-resources and --node exclude each other"
