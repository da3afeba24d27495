#!/bin/sh
# SPDX-License-Identifier: MIT
# Which checks run, in which order, how many at a time, how often, and until when.
. "$(dirname "$0")/lib.sh"

# ids REPORT: of its checks, sorted.
ids() { node -e 'for (const c of JSON.parse(require("fs").readFileSync(process.argv[1])).checks) console.log(c.id)' "$1" | sort; }

# Several checks at a time end as they do one after the other.
suites="registration list-and-watch allocate"
# shellcheck disable=SC2086
expect_exit 0 gpucert run --quiet --launcher process --out "$work/one" $suites
# shellcheck disable=SC2086
expect_exit 0 gpucert run --quiet --launcher process --jobs 4 --out "$work/four" $suites
expect_exit 0 gpucert compare "$work/one" "$work/four"

# Shards have every check once.
for shard in 1 2 3; do
	expect_exit 0 gpucert run --quiet --launcher process --shard $shard/3 --out "$work/shard-$shard" registration
done
for shard in 1 2 3; do ids "$work/shard-$shard/report.json"; done | sort >"$work/shards"
gpucert list --json registration | node -e 'for (const c of JSON.parse(require("fs").readFileSync(0))) console.log(c.id)' | sort >"$work/all"
cmp "$work/shards" "$work/all" || complain "the shards do not have every check once"
expect_exit 2 gpucert run --shard 4/3 registration
expect_says "--shard: '4/3' is not I/N"

# One seed, one order, which is not the table's.
for seed in 0 5 5; do
	gpucert run --dry-run --launcher process --shuffle $seed allocate >"$work/order-$seed"
done
gpucert run --dry-run --launcher process --shuffle 5 allocate | cmp - "$work/order-5" || complain "one seed gave two orders"
! cmp -s "$work/order-0" "$work/order-5" || complain "--shuffle changed nothing"
sort "$work/order-0" >"$work/sorted-0"
sort "$work/order-5" | cmp - "$work/sorted-0" || complain "--shuffle changed which checks run"

# What failed runs again.
cat >"$work/plugin.json" <<'E2'
{"plugins": [{"resource": "example.com/gpu", "socket": "gpu.sock", "devices": [{"id": "a", "health": "healthy"}, {"id": "b"}]}]}
E2
scripted="$bin/../tests/scripted-plugin $work/plugin.json {plugin-dir}"
expect_exit 1 gpucert run --quiet --launcher process --plugin "$scripted" --out "$work/first" registration.version list-and-watch.health
expect_exit 1 gpucert run --quiet --launcher process --plugin "$scripted" --from "$work/first" --out "$work/again"
[ "$(ids "$work/again/report.json")" = list-and-watch.health ] || complain "not only the failed check ran again"
expect_exit 0 gpucert run --quiet --launcher process --plugin "$scripted" --from "$work/first" --only pass --out "$work/passed"
expect_exit 2 gpucert run --from "$work/first" --only crash
expect_says "no check in $work/first has one of these outcomes"
expect_exit 2 gpucert run --from "$work/first" --only failed
expect_says "unknown outcome 'failed'"

# Repeated, until one run fails.
expect_exit 0 gpucert run --launcher process --repeat 2 --out "$work/repeated" registration.version
expect_report "$work/repeated/run-2/report.json" "outcome('registration.version')" pass
expect_exit 1 gpucert run --launcher process --plugin "$scripted" --repeat 3 --until-fail --out "$work/until" list-and-watch.health
[ ! -e "$work/until/run-2" ] || complain "it ran again after a failure"
expect_says "1 of 1 runs had an exit code other than 0"

# A failed check waits with its socket and its plugin, until it may continue.
mkfifo "$work/input"
gpucert run --quiet --launcher process --plugin "$scripted" --keep --out "$work/kept" list-and-watch.health registration.version \
	<"$work/input" 2>"$work/shown" &
run=$!
exec 9>"$work/input"
tries=0
until grep -q "Enter continues" "$work/shown" || [ $tries -eq 1200 ]; do
	tries=$((tries + 1))
	sleep 0.1
done
sockets=$(sed -n 's/^  sockets *ls -l //p' "$work/shown")
plugin=$(sed -n 's/^  plugin *process \([0-9]*\).*/\1/p' "$work/shown")
[ -S "$sockets/kubelet.sock" ] || complain "no kubelet.sock while the check is kept"
[ -d "/proc/$plugin" ] || complain "the plugin does not run while the check is kept"
grep -q "^list-and-watch.health: .*got" "$work/shown" || complain "the failure is not shown"
echo >&9
code=0
wait $run || code=$?
exec 9>&-
[ $code -eq 1 ] || complain "--keep: exit code $code, expected 1"
expect_report "$work/kept/report.json" "outcome('list-and-watch.health')" fail
expect_report "$work/kept/report.json" "outcome('registration.version')" pass
[ ! -e "$sockets" ] || complain "--keep left $sockets behind"
# Without somebody who could press Enter it continues.
expect_exit 1 gpucert run --launcher process --plugin "$scripted" --keep --out "$work/unattended" list-and-watch.health </dev/null
expect_says "the check continues"

# Limits of the run, and of silence.
hangs="sh -c 'exec sleep 600'"
expect_exit 4 gpucert run --quiet --launcher process --plugin "$hangs" --time-limit 1 --out "$work/limited" registration.arrives
expect_report "$work/limited/report.json" "r.verdict.exitCode" 4
expect_report "$work/limited/report.json" "outcome('registration.arrives')" notrun
expect_exit 1 gpucert run --quiet --launcher process --plugin "$hangs" --silence-limit 1 --out "$work/silent" registration.arrives
expect_report "$work/silent/report.json" "outcome('registration.arrives')" timeout
expect_nothing_left
