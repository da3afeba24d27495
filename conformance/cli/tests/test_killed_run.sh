#!/bin/sh
# SPDX-License-Identifier: MIT
# Runs that are killed at moments spread over their length: the journal of each renders to a valid report, and
# the next run cleans up what it left. usage: test_killed_run.sh BIN VALIDATE SCHEMA
. "$(dirname "$0")/lib.sh"
[ "$(id -u)" -eq 0 ] || skip "needs root"
command -v containerd >/dev/null || skip "needs containerd"

moment=0
while [ $moment -lt 10 ]; do
	out=$work/killed-$moment
	gpucert run --quiet --out "$out" environment registration.version isolation api.vulkan >/dev/null 2>&1 &
	run=$!
	# Moments from 0.1 s on, with a part that differs between the runs of this test.
	delay=$(awk "BEGIN { srand($$ * 10 + $moment); printf \"%.2f\", 0.1 + $moment * 0.45 + rand() * 0.3 }")
	timeout "$delay" tail --pid=$run -f /dev/null || true
	grep -lsE "\"pid\": *$run\b" /run/gpucert/run-*/owner.json /tmp/gpucert-*/owner.json >>"$work/owners" || true
	kill -KILL $run 2>/dev/null || true
	wait $run 2>/dev/null || true
	if [ -f "$out/journal.ndjson" ]; then
		expect_exit 0 gpucert report --out "$out" "$out"
		[ $# -lt 3 ] || expect_exit 0 node "$2" "$3" "$out/report.json"
	fi
	moment=$((moment + 1))
done

expect_exit 0 gpucert run --out "$work/after" environment
[ -s "$work/owners" ] || complain "no run was killed while it had a directory"
while read -r owner; do
	directory=$(dirname "$owner")
	[ ! -e "$directory" ] || complain "left behind: $directory"
	! grep -q " $directory/" /proc/mounts || complain "mounts left behind: $(grep " $directory/" /proc/mounts)"
	! pgrep -f "$directory/" >/dev/null || complain "processes left behind: $(pgrep -af "$directory/")"
done <"$work/owners"
