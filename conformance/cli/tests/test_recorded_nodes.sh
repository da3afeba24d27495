#!/bin/sh
# SPDX-License-Identifier: MIT
# Recorded nodes, of hardware and an operating system that are not here: everything up to the containers passes, and the rest
# says why it does not apply. usage: test_recorded_nodes.sh BIN NODE...
. "$(dirname "$0")/lib.sh"
steady_memory

# How the plugin speaks and bears load is the same on every node: test_directx_plugins and test_run look at it.
shift
for node; do
	expect_exit 0 gpucert run --jobs 4 --node "$node" --out "$work/report" \
		-x registration.no-repeat -x list-and-watch.idle -x list-and-watch.no-storm -x protocol -x load
	expect_report "$work/report/report.json" "r.checks.filter((c) => !['pass', 'unsupported', 'not-applicable'].includes(c.outcome)).map((c) => c.id).join()" ""
	expect_report "$work/report/report.json" "outcome('list-and-watch.devices-present')" pass
	expect_report "$work/report/report.json" "outcome('isolation.single-device')" not-applicable
	# However much of it passes, a recording proves nothing about a node.
	expect_report "$work/report/report.json" "r.verdict.conformance.result" incomplete
	expect_report "$work/report/report.json" "r.verdict.conformance.reason" "the node is a recording, or not known"
	# An API that no check tests, such as CUDA, keeps API-01 open also here.
	expect_report "$work/report/report.json" \
		"['not-applicable', 'not-tested'].includes(r.requirements.find((q) => q.id === 'API-01').verdict)" true
	expect_report "$work/report/report.json" "r.environment.runtime" null
	grep -q PASSED "$work/out" && complain "a recorded node is called PASSED"
	true
done
