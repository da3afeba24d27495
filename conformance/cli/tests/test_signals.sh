#!/bin/sh
# SPDX-License-Identifier: MIT
# Requests to end, in all their ways: each run has a report that says so, and leaves nothing.
. "$(dirname "$0")/lib.sh"

has_started() { [ -s "$work/where" ]; }

for signal in TERM INT HUP QUIT USR1; do
	rm -f "$work/where"
	gpucert run --quiet --launcher process --timeout-percent 1000 --out "$work/report-$signal" \
		--plugin "sh -c 'echo {plugin-dir} >$work/where; exec sleep 600'" registration.arrives >/dev/null 2>&1 &
	run=$!
	tries=0
	until has_started || [ $tries -eq 1200 ]; do
		tries=$((tries + 1))
		sleep 0.1
	done
	kill -$signal $run
	code=0
	wait $run || code=$?
	[ $code -eq 4 ] || complain "SIG$signal: exit code $code, expected 4"
	expect_report "$work/report-$signal/report.json" "r.verdict.exitCode" 4
	[ ! -e "$(cat "$work/where")" ] || complain "SIG$signal: $(cat "$work/where") is left behind"
done

# The summary names the command that runs the rest, which works.
gpucert report "$work/report-INT" >"$work/shown"
grep -q "^continue *gpucert run --from .* --only crash,notrun" "$work/shown" || complain "no command that continues"
expect_exit 0 gpucert run --quiet --launcher process --from "$work/report-INT" --only crash,notrun --out "$work/rest"

# Whoever reads the output goes away: the run goes on.
gpucert run --launcher process --out "$work/unread" --verbose registration.version 2>"$work/err" | true
expect_report "$work/unread/report.json" "outcome('registration.version')" pass

# A plugin's daemons are found, told and ended.
cat >"$work/daemon.sh" <<'EOF'
echo "$1" >"$2"
setsid sh -c "sleep 6543 & echo \$! >>$3; sleep 6543" &
exec device-plugin-gpu --plugin-dir "$1"
EOF
expect_exit 1 gpucert run --launcher process --out "$work/report" \
	--plugin "sh $work/daemon.sh {plugin-dir} $work/where $work/daemons" restart.terminate registration.version
expect_report "$work/report/report.json" "outcome('restart.terminate')" fail
expect_report "$work/report/report.json" "outcome('registration.version')" pass
expect_report "$work/report/report.json" \
	"r.checks.find((c) => c.id === 'registration.version').notes.some((n) => n.includes('was left running'))" true
expect_says "the plugin's processes: got sh (process "
while read -r daemon; do
	! grep -qs "^sleep" "/proc/$daemon/comm" || complain "the daemon $daemon runs"
done <"$work/daemons"

# A run that is asked to end in the middle of a check: the plugin is asked too, what it started is ended, and a device that
# failed for the check works again.
cat >"$work/worker.sh" <<'EOF'
trap 'echo asked >"$2.asked"; exit 0' TERM
setsid sleep 6543 &
echo $! >"$2.workers"
sleep 6543 &
echo $! >>"$2.workers"
device-plugin-gpu --plugin-dir "$1" &
while :; do wait; done
EOF
mkfifo "$work/fails"
gpucert run --quiet --launcher process --out "$work/stopped" --plugin "sh $work/worker.sh {plugin-dir} $work/it" \
	--fail-device "sh -c 'echo \$DEVICE_ID >$work/failed; echo >$work/fails'" \
	--restore-device "sh -c 'echo \$DEVICE_ID >>$work/restored'" health.device-fails >/dev/null 2>&1 &
run=$!
read -r _ <"$work/fails"
kill -TERM $run
code=0
wait $run || code=$?
[ $code -eq 4 ] || complain "stopped: exit code $code, expected 4"
cmp "$work/failed" "$work/restored" || complain "the device that failed is not restored once"
[ -f "$work/it.asked" ] || complain "the plugin is not asked to end"
while read -r worker; do
	! grep -qs "^sleep" "/proc/$worker/comm" || complain "the plugin's process $worker runs"
done <"$work/it.workers"
