#!/bin/sh
# SPDX-License-Identifier: MIT
# Many kubelets in one process, each with a plugin of its own. usage: test_fleet.sh BIN [COUNT]
. "$(dirname "$0")/lib.sh"
count=${2:-12}

expect_exit 0 gpucert kubelet -d "$work/fleet" --fleet "$count" -p "device-plugin-gpu --plugin-dir {plugin-dir}" \
	-a gpucert.internal/display=1 --once
node - "$work/out" "$count" <<'E2' || complain "not every node has started its container"
const events = require('fs').readFileSync(process.argv[2], 'utf8').trim().split('\n').map(JSON.parse);
const started = new Set(events.filter((e) => e.event === 'started').map((e) => e.node));
const ended = new Set(events.filter((e) => e.event === 'stopped').map((e) => e.node));
process.exit(started.size === Number(process.argv[3]) && ended.size === started.size ? 0 : 1);
E2

# One that ends makes the fleet's exit code, and the others are served.
expect_exit 1 gpucert kubelet -d "$work/one" --fleet 3 -a gpucert.internal/display=1 --once \
	-p "sh -c 'case {plugin-dir} in */2) exit 7;; *) exec device-plugin-gpu --plugin-dir {plugin-dir};; esac'"
expect_says '"text":"exited with code 7","node":2'
for node in 1 3; do
	grep -q "\"event\":\"admitted\".*\"node\":$node" "$work/out" || complain "node $node was not served"
done
expect_exit 2 gpucert kubelet -d "$work/no" --fleet 2 --take-over
expect_says "--fleet excludes"
