#!/bin/sh
# SPDX-License-Identifier: MIT
# Standard streams that are closed or full, and too few descriptors: each program does its work and ends as it would, or
# says what it lacks.
. "$(dirname "$0")/lib.sh"

expect_code() {
	[ "$code" -eq "$1" ] || complain "$2: exit code $code, expected $1"
}

run() {
	gpucert run --launcher process --out "$work/report" registration.version
}

code=0
run <&- >"$work/out" 2>"$work/err" || code=$?
expect_code 0 "run without standard input"
code=0
run 2>&- >"$work/out" </dev/null || code=$?
expect_code 0 "run without standard error"
code=0
run >&- 2>"$work/err" </dev/null || code=$?
expect_code 3 "run without standard output"
grep -q "the report is in $work/report" "$work/err" || complain "it does not say where the report is"
expect_report "$work/report/report.json" "outcome('registration.version')" pass
code=0
run >/dev/full 2>"$work/err" </dev/null || code=$?
expect_code 3 "run with a full disk behind standard output"
code=0
run <&- >&- 2>&- || code=$?
expect_code 3 "run without any"

# Too few descriptors: an end, with the reason. With enough, it works; none between blames the plugin.
for limit in 8 12 16 18 19 20 21 22 23 24; do
	for command in "run --launcher process --out $work/few registration.version" "kubelet --plugin-dir $work/plugins --seconds 1"; do
		code=0
		# shellcheck disable=SC2086
		timeout 60 prlimit --nofile=$limit "$bin/gpucert" $command >"$work/out" 2>"$work/err" || code=$?
		[ $limit -gt 12 ] || expect_code 3 "$command with $limit descriptors"
		[ $code -ne 124 ] || complain "$command with $limit descriptors does not end"
		[ $code -eq 0 ] || grep -qi "too many open files" "$work/err" || complain "$command with $limit descriptors: $(cat "$work/err")"
	done
done

code=0
gpucert kubelet --plugin-dir "$work/plugins" --seconds 1 <&- >"$work/out" || code=$?
expect_code 0 "kubelet without standard input"
code=0
gpucert kubelet --plugin-dir "$work/plugins" --seconds 1 <&- 2>&- >"$work/out" || code=$?
expect_code 0 "kubelet without standard input and error"

has_sockets() { [ -n "$(find "$work/plugins" -type s)" ]; }
has_output() { [ -s "$work/out" ]; }

# Files may not grow: an error that names one.
code=0
prlimit --fsize=2000 "$bin/gpucert" run --launcher process --out "$work/small" registration.version >"$work/out" 2>"$work/err" </dev/null ||
	code=$?
expect_code 3 "run with a limit of file sizes"
grep -q "File too large" "$work/err" || complain "it does not name the limit: $(cat "$work/err")"

# ended NAME READY COMMAND...: the command, with closed streams, ends by SIGTERM with code 0.
ended() {
	name=$1
	ready=$2
	shift 2
	rm -f "$work/out"
	"$@" &
	program=$!
	tries=0
	until $ready || [ $tries -eq 1200 ]; do
		tries=$((tries + 1))
		sleep 0.1
	done
	kill -TERM $program
	code=0
	wait $program || code=$?
	expect_code 0 "$name"
}
mkdir -p "$work/plugins"
watch() { exec gpu-discovery --watch <&- 2>&- >"$work/out"; }
plugin() { exec device-plugin-gpu --plugin-dir "$work/plugins" <&- >&- 2>&-; }
ended "gpu-discovery without standard input and error" has_output watch
ended "device-plugin-gpu without any" has_sockets plugin
