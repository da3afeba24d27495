#!/bin/sh
# SPDX-License-Identifier: MIT
# The DirectX plugins on a recorded Windows node pass every MUST and SHOULD that a recorded node can show.
# usage: test_directx_plugins.sh BIN NODE
. "$(dirname "$0")/lib.sh"
steady_memory

# The last of the node's four devices only computes.
node=$work/node.json
node -e '
	const fs = require("fs");
	const node = JSON.parse(fs.readFileSync(process.argv[1]));
	Object.assign(node.devices.at(-1), {kind: "compute", display: false});
	fs.writeFileSync(process.argv[2], JSON.stringify(node));' "$2" "$node"

# certify PLUGIN RESOURCE [CHECKS...]
certify() {
	plugin=$1
	resource=$2
	shift 2
	expect_exit 0 gpucert run --launcher process --node "$node" --resource "$resource" --out "$work/report" \
		--plugin "$bin/$plugin --node $node --plugin-dir {plugin-dir} --kubelet-socket {kubelet-socket}" "$@"
	expect_report "$work/report/report.json" "r.checks.filter((c) => !['pass', 'unsupported', 'not-applicable'].includes(c.outcome)).map((c) => c.id).join()" ""
	expect_report "$work/report/report.json" "outcome('list-and-watch.devices-present')" pass
}

certify device-plugin-wddm directx.microsoft.com/display \
	-x registration.no-repeat -x list-and-watch.idle -x list-and-watch.no-storm -x 'api.*' -x 'isolation.*'
expect_report "$work/report/report.json" "outcome('windows.location-path')" pass
expect_report "$work/report/report.json" "outcome('allocate.each-and-all')" pass
expect_report "$work/report/report.json" "outcome('restart.kubelet-restart')" pass
expect_report "$work/report/report.json" "outcome('restart.terminate')" pass
certify device-plugin-mcdm directx.microsoft.com/compute 'registration.resource-name' 'list-and-watch.devices-present' 'allocate.*' 'windows.*'
expect_report "$work/report/report.json" "outcome('windows.location-path')" pass
certify 'device-plugin-wddm --allocation class --multitenancy 4 --several-devices allow' directx.microsoft.com/display \
	'list-and-watch.devices-present' 'list-and-watch.ids' 'allocate.each-and-all' 'allocate.unique-paths' 'windows.*'
expect_report "$work/report/report.json" "outcome('windows.class-guid')" pass
