#!/bin/sh
# SPDX-License-Identifier: MIT
# A containerd that hangs in the middle of a run: the run says so and ends soon, and sooner when it is asked to.
. "$(dirname "$0")/lib.sh"
[ "$(id -u)" -eq 0 ] || skip "needs root"
command -v containerd >/dev/null || skip "needs containerd"

# find_owned: the directory of the run $run.
find_owned() {
	owner=$(grep -lsE "\"pid\": *$run\b" /run/gpucert/run-*/owner.json) || return 1
	directory=$(dirname "$owner")
}

# start_and_stop OUT: a run whose containerd is stopped during its first check.
start_and_stop() {
	gpucert run --out "$1" environment.container api.vulkan isolation.single-device >"$work/out" 2>"$work/err" </dev/null &
	run=$!
	tries=0
	until find_owned && [ -s "$1/journal.ndjson" ] && grep -q check-begin "$1/journal.ndjson"; do
		tries=$((tries + 1))
		[ $tries -lt 1200 ] || {
			complain "the run does not begin"
			break
		}
		sleep 0.1
	done
	containerd=$(pgrep -o -f "^containerd --config $directory/config.toml")
	kill -STOP "$containerd"
	began=$(date +%s)
}

start_and_stop "$work/report"
code=0
wait $run || code=$?
took=$(($(date +%s) - began))
[ $code -eq 3 ] || complain "exit code $code, expected 3"
[ $took -le 240 ] || complain "it took $took s"
expect_says "container runtime"
[ ! -e "$directory" ] || complain "left behind: $directory"

start_and_stop "$work/stopped"
kill -TERM $run
wait $run || true
took=$(($(date +%s) - began))
[ $took -le 180 ] || complain "it took $took s although it was asked to end"
[ ! -e "$directory" ] || complain "left behind: $directory"
