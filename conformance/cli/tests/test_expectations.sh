#!/bin/sh
# SPDX-License-Identifier: MIT
# The expectations that are shipped, on the golden set (reports/tests/set/README.md) and in runs.
# usage: test_expectations.sh BIN SET EXPECTATIONS
. "$(dirname "$0")/lib.sh"
set=$2
rows=$3
set -- amd-windows directx-device-plugins nvidia-windows windows-gpus # what is shipped

# Of each name there is a file, by that name, and nothing more is shipped.
[ "$(find "$rows" -name '*.json' -exec basename {} .json ';' | sort | tr '\n' ' ')" = "$* " ] || complain "other files are shipped than $*"
expect_exit 0 gpucert expect check "$@"
expect_exit 0 gpucert --complete run --expect ''
[ "$(tr '\n' ' ' <"$work/out")" = "files $* " ] || complain "completions do not offer them: $(cat "$work/out")"

# Each row is about a report of the set that shows its fault: expected-fail there, also when it is explained afterwards.
node -e '
	const {readdirSync, readFileSync} = require("fs");
	const [set, folder, ...names] = process.argv.slice(1);
	const reports = ["matrix", "more"].flatMap((group) => readdirSync(`${set}/${group}`).map((name) => `${set}/${group}/${name}`));
	const shown = new Map();
	for (const path of reports)
		for (const {id, expected, disposition} of JSON.parse(readFileSync(`${path}/report.json`)).checks)
			if (disposition === "expected-fail") shown.set(expected.entry, [path, id]);
	for (const name of names)
		JSON.parse(readFileSync(`${folder}/${name}.json`)).rows.forEach((row, i) => {
			const entry = `${name}#${i + 1}`;
			if (shown.get(entry)?.[1] !== row.check) console.log(`no report shows ${entry} (${row.check})`);
			else console.log(`shown ${entry} ${shown.get(entry).join(" ")}`);
		});' "$set" "$rows" "$@" >"$work/shown"
! grep '^no report' "$work/shown" || complain "rows of which no report of the set shows the fault"
cut -d ' ' -f 3 "$work/shown" | sort -u >"$work/folders"
while read -r folder; do
	expect_exit 0 gpucert expect explain "$@" --report "$folder"
	cp "$work/out" "$work/explained"
	grep " $folder " "$work/shown" | while read -r _ entry _ check; do
		grep -A 1 "^$check: fail, expected-fail\$" "$work/explained" | grep -q " $entry\$" ||
			echo "$entry ($check) is not explained for $folder" >>"$work/unexplained"
	done
done <"$work/folders"
[ ! -e "$work/unexplained" ] || complain "$(cat "$work/unexplained")"

# What is shipped explains each fault of the set, but a driver in which all is mended is told in the first line.
for folder in "$set"/matrix/* "$set"/more/*; do
	case $folder in
	*mended*)
		expect_report "$folder/report.json" "r.verdict.exitCode" 1
		expect_exit 0 gpucert report "$folder"
		[ "$(head -n 1 "$work/out" | cut -d : -f 1)" = "FIXED      api.vulkan passes now" ] ||
			complain "the first line is $(head -n 1 "$work/out")"
		expect_says "remove the expectation nvidia-windows#1 (and 17 more)"
		;;
	*) expect_report "$folder/report.json" "r.verdict.exitCode" 0 ;;
	esac
done
mended=$set/more/nvidia-mended-2025
expect_exit 1 gpucert expect update nvidia-windows --report "$mended"
expect_says "- nvidia-windows#1 (api.vulkan) with Windows Server 2025 Datacenter 26100.2454, nvlddmkm 99.0.0.1: it passed in each of 1 run"
expect_exit 1 gpucert expect update nvidia-windows --report "$mended" --report "$set/matrix/nvidia-582.53-2025"
expect_says "~ nvidia-windows#1 (api.vulkan) with Windows Server 2025 Datacenter 26100.2454, nvlddmkm 99.0.0.1: it passed in each of 1 run, and failed elsewhere: narrow its match"
expect_exit 0 gpucert expect update windows-gpus nvidia-windows amd-windows --report "$set/matrix/nvidia-582.53-2025" --report "$set/matrix/nvidia-552.22-2022"

# Without the rows they are what is proposed, each for where it was seen: a file of them holds for these reports alone, once a person
# has written why.
echo '{"schema": "gpucert-expectations/1", "rows": []}' >"$work/none.json"
expect_exit 1 gpucert expect update "$work/none.json" --report "$set/matrix/nvidia-582.53-2025" --report "$set/matrix/amd-24027-2022"
node -e '
	const lines = require("fs").readFileSync(process.argv[1], "utf8").trim().split("\n");
	const rows = lines.map((line) => ({...JSON.parse(line.replace(/^\+ /, "")), why: "w", link: "l", reviewBy: `${new Date().getFullYear() + 1}-01-01`}));
	console.log(JSON.stringify({schema: "gpucert-expectations/1", rows}));' "$work/out" >"$work/own.json"
expect_says '"match":{"os":"windows","osBuild":"=26100.2454","driver":"nvlddmkm","driverVersion":"=32.0.15.8253"}'
expect_exit 0 gpucert expect update "$work/own.json" --report "$set/matrix/nvidia-582.53-2025" --report "$set/matrix/amd-24027-2022"
expect_exit 0 gpucert expect explain "$work/own.json" --report "$set/matrix/nvidia-552.22-2025"
expect_says "no row is about this environment"

# A failure for another reason than the row's is none that is known.
row() { # EXPECT REASON MATCH
	cat >"$work/row.json" <<-END
		{"schema": "gpucert-expectations/1", "flakeBudget": ${budget-0}, "rows": [{"check": "windows.whole-answer", "expect": "$1", "reason": "$2", "match": {$3},
		"why": "It answers with all of them.", "link": "https://example.com/1", "added": "2026-11-01", "seenWith": "a plugin",
		"reviewBy": "$(($(date +%Y) + 1))-01-01"}]}
	END
}
node=$set/nodes/nvidia-552.22-2022.json
export WDDM_DEVICE_PLUGIN_SEVERAL_DEVICES=allow
run() {
	expect_exit "$1" gpucert run --launcher process --node "$node" --out "$work/report" --expect "$2" windows.whole-answer
}
run 0 directx-device-plugins
expect_report "$work/report/report.json" "r.checks[0].expected.entry + ' ' + r.checks[0].disposition" "directx-device-plugins#1 expected-fail"
row fail '*got 4, expected one*' '"driverVersion": ">=31.0.15.5000 <32"'
run 0 "$work/row.json"
expect_report "$work/report/report.json" "r.checks[0].expected.reviewBy" "$(($(date +%Y) + 1))-01-01"
row fail '*got 9,*' '"driverVersion": ">=31.0.15.5000 <32"'
run 1 "$work/row.json"
expect_report "$work/report/report.json" "r.checks[0].disposition" unexpected-fail
expect_exit 1 gpucert expect update "$work/row.json" --report "$work/report"
expect_says "1 of 1 failures are not what it says (fail): device strings for all devices in one container: got 4"
row fail '*' '"driverVersion": "<31.0.15.5000"'
run 1 "$work/row.json"
expect_report "$work/report/report.json" "r.checks[0].expected" null
row crash '*' '"os": "windows"'
run 1 "$work/row.json"
expect_says "FIXED      windows.whole-answer ends better now"
row timeout '*' '"device": "NVIDIA Tesla T?"'
run 1 "$work/row.json"
expect_says "FIXED"

# Flaky checks may fail as often as the budget says.
budget=1 row flaky '*' '"node": "recorded"'
run 0 "$work/row.json"
row flaky '*' '"node": "recorded"'
run 1 "$work/row.json"
expect_report "$work/report/report.json" "r.checks[0].disposition" unexpected-fail

# Of two files the row that asks for more is taken; two that ask for as much are an error before anything runs.
row fail '*' '"os": "windows", "osBuild": ">=20348 <20349"'
mv "$work/row.json" "$work/more.json"
row crash '*' '"os": "windows"'
expect_exit 0 gpucert run --launcher process --node "$node" --out "$work/report" --expect "$work/row.json" --expect "$work/more.json" windows.whole-answer
expect_report "$work/report/report.json" "r.checks[0].expected.entry" "more#1"
row crash '*' '"os": "windows", "driver": "nvlddmkm"'
expect_exit 3 gpucert run --launcher process --node "$node" --out "$work/report" --expect "$work/row.json" --expect "$work/more.json" windows.whole-answer
expect_says "row#1 and more#1 both match windows.whole-answer, and neither asks for more"
expect_exit 3 gpucert expect explain "$work/row.json" "$work/more.json" --report "$set/matrix/nvidia-552.22-2022"
expect_says "make one of them more specific"

row crash '*' '"os": "windows", "osBuild": ">=20348 <20349"'
expect_exit 3 gpucert expect check "$work/row.json" "$work/more.json"
expect_says "row#1 and more#1 are about windows.whole-answer in the same environments: remove one of them"
expect_exit 0 gpucert expect check "$work/more.json"
expect_says "1 row is right"
expect_exit 0 gpucert expect explain "$work/more.json" --report "$set/matrix/nvidia-552.22-2022" --report "$set/matrix/nvidia-552.22-2019"
expect_says "matrix/nvidia-552.22-2019:"

# What everything stands on is never expected to fail.
sed 's/windows.whole-answer/registration.arrives/' "$work/row.json" >"$work/sentinel.json"
expect_exit 3 gpucert expect check "$work/sentinel.json"
expect_says "registration.arrives can never be expected to fail: everything depends on it"

# Nor is a check on which others depend: they would not run, and the run would stay incomplete.
expect_exit 0 gpucert list --json
node -e '
	const checks = JSON.parse(require("fs").readFileSync(process.argv[1]));
	for (const id of new Set(checks.map((c) => c.dependsOn).filter((id) => id !== undefined))) console.log(id);' "$work/out" >"$work/needed"
[ "$(grep -c -x -e allocate.one-response -e list-and-watch.arrives "$work/needed")" -eq 2 ] || complain "depended on: $(cat "$work/needed")"
while read -r check; do
	sed "s/windows.whole-answer/$check/" "$work/row.json" >"$work/needed.json"
	expect_exit 3 gpucert expect check "$work/needed.json"
	expect_says "$check can never be expected to fail: "
done <"$work/needed"
sed 's/windows.whole-answer/allocate.one-response/' "$work/row.json" >"$work/needed.json"
expect_exit 3 gpucert run --launcher process --out "$work/report" --expect "$work/needed.json" allocate
expect_says "checks depend on it"
expect_exit 1 gpucert run --launcher process --plugin "'$bin/device-plugin-gpu' --no-such-option" --out "$work/down" registration.arrives list-and-watch.arrives
expect_exit 1 gpucert expect update "$work/none.json" --report "$work/down"
expect_says "! registration.arrives can never be expected to fail: "

# --fail-fast continues after a known failure, and stops at one that is not known.
row fail '*got 4, expected one*' '"os": "windows"'
expect_exit 0 gpucert run --launcher process --node "$node" --out "$work/report" --fail-fast --expect "$work/row.json" windows
expect_report "$work/report/report.json" "r.checks.filter((c) => c.outcome === 'notrun').length" 0
expect_report "$work/report/report.json" "outcome('windows.whole-answer')" fail
expect_exit 1 gpucert run --launcher process --node "$node" --out "$work/report" --fail-fast windows
expect_report "$work/report/report.json" "r.checks.filter((c) => c.outcome === 'notrun').length > 0" true
budget=0 row flaky '*got 4, expected one*' '"os": "windows"'
expect_exit 1 gpucert run --launcher process --node "$node" --out "$work/report" --fail-fast --expect "$work/row.json" windows
expect_report "$work/report/report.json" "r.checks.filter((c) => c.outcome === 'notrun').length > 0" true
