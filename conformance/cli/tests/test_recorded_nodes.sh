#!/bin/sh
# SPDX-License-Identifier: MIT
# Recorded nodes, of hardware and an operating system that are not here: everything up to the containers passes, and the rest
# says why it is unsupported. usage: test_recorded_nodes.sh BIN NODES
. "$(dirname "$0")/lib.sh"

for node in "$2"/*.json; do
	expect_exit 0 gpucert run --node "$node" --out "$work/report" \
		-x registration.no-repeat -x list-and-watch.idle -x list-and-watch.no-storm
	expect_report "$work/report/report.json" "r.checks.filter((c) => !['pass', 'unsupported'].includes(c.outcome)).map((c) => c.id).join()" ""
	expect_report "$work/report/report.json" "outcome('list-and-watch.devices-present')" pass
	expect_report "$work/report/report.json" "outcome('isolation.single-device')" unsupported
done
