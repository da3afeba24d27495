#!/bin/sh
# SPDX-License-Identifier: MIT
# Comparison, matrix and expectations on the golden set: 4 drivers on 3 builds of Windows (reports/tests/set/README.md).
# usage: test_golden_set.sh BIN SET SCHEMAS VALIDATE.mjs README.mjs
. "$(dirname "$0")/lib.sh"
set=$2
schemas=$3
validate=$4

[ "$(find "$set/matrix" -name report.json | wc -l)" -ge 12 ] || complain "the set has fewer than 12 reports"
expect_exit 0 node "$validate" "$schemas/report.schema.json" "$set"/matrix/*/report.json "$set"/more/*/report.json
for journal in "$set"/matrix/nvidia-552.22-20??/journal.ndjson; do
	expect_exit 0 node "$validate" "$schemas/journal.schema.json" "$journal"
done

# README.md shows its matrix.
expect_exit 0 node "$5" "$bin/.." --check matrix="$set"

# Each says that its node is a recording, and of each planted check that nothing ran; none of it proves anything.
for folder in "$set"/matrix/* "$set"/more/*; do
	expect_report "$folder/report.json" "r.environment.node.kind" recorded
	expect_report "$folder/report.json" "r.checks.filter((c) => /^(api|isolation)[.]/.test(c.id) && c.time !== null && c.id !== 'api.every-api').every((c) => c.unproven !== undefined && c.notes[0].startsWith('planted by reports/tests/set: no container ran'))" true
	expect_report "$folder/report.json" "r.run.events.filter((e) => e.kind === 'planted').length" 1
	expect_report "$folder/report.json" "r.requirements.some((q) => /^(API|ISO)-/.test(q.id) && q.verdict === 'satisfied')" false
	expect_report "$folder/report.json" "outcome('windows.location-path')" pass
done

# One part of the environment that moved alone is the headline, also between recordings, which are other files.
cd "$set/matrix"
more=../more
expect_exit 0 gpucert compare nvidia-552.22-2022 nvidia-582.53-2022
expect_says "driver nvlddmkm 31.0.15.5222 → nvlddmkm 32.0.15.8253: every outcome is the same"
expect_exit 1 gpucert compare nvidia-582.53-2022 nvidia-582.53-2025
expect_says "OS Windows Server 2022 Datacenter 20348.2849 → Windows Server 2025 Datacenter 26100.2454: 5 regressions, 1 other change"
grep -Eq '^regression +isolation.residue +pass +fail +probe-residue: got launch refused' "$work/out" || complain "the regression is another"
expect_exit 0 gpucert compare amd-24027-2019 amd-24027-2022
expect_says "OS Windows Server 2019 Datacenter 17763.6532 → Windows Server 2022 Datacenter 20348.2849: 8 fixes, 6 other changes"
expect_exit 0 gpucert compare nvidia-582.53-2025 $more/nvidia-mended-2025
expect_says "driver nvlddmkm 32.0.15.8253 → nvlddmkm 99.0.0.1: 18 fixes"
expect_exit 1 gpucert compare --format json $more/nvidia-mended-2025 nvidia-582.53-2025
expect_says '"onlyDifference": "driver"'
expect_says '"regression": 19'
expect_exit 1 gpucert compare amd-24027-2022 nvidia-582.53-2025 intel-5186-2022
expect_says "OS, driver, device and node differ: 14 regressions"
expect_says "driver, device and node differ: 4 other changes"
grep -n '^\(regression\|fix\|changed\|new\|gone\|not-comparable\) ' "$work/out" | sed 's/:\([a-z-]*\).*/ \1/' |
	awk 'BEGIN { split("regression fix changed new gone not-comparable", k); for (i in k) rank[k[i]] = i }
	$1 != line + 1 { last = 0 } { if (rank[$2] < last) exit 1; last = rank[$2]; line = $1 }' ||
	complain "the kinds of changes are not in their order"

# The matrix, in each format.
expect_exit 0 gpucert matrix --failed .
expect_says "G   nvlddmkm 31.0.15.5222 on Windows Server 2019 Datacenter 17763.6532 (recorded): 1 run"
[ "$(grep -c ' on Windows Server .* (recorded): 1 run$' "$work/out")" = 12 ] || complain "the matrix has not 12 columns"
grep -Eq '^api.vulkan +fail +pass +pass +n/a +n/a +n/a +fail +fail +fail +fail +fail +fail$' "$work/out" || complain "the row of api.vulkan is another"
grep -Eq '^isolation.single-device +unsupported +pass +pass +unsupported +pass +pass +unsupported +fail +fail ' "$work/out" ||
	complain "the row of isolation.single-device is another"
! grep -q '^windows\.' "$work/out" || complain "--failed shows checks that never failed"
expect_exit 0 gpucert matrix --format csv --apis .
[ "$(grep -c '^"api.d3d12",.*,"recorded",1,' "$work/out")" = 12 ] || complain "CSV does not have a line for each check and column"
expect_exit 0 gpucert matrix --format markdown --apis .
expect_says '| api.d3d12 | fail | pass | pass | fail | pass | pass | fail | fail | fail | fail | fail | fail |'
expect_exit 0 gpucert matrix --format json . ../more
cp "$work/out" "$work/matrix.json"
expect_report "$work/matrix.json" "r.reports + ' ' + r.columns.length" "18 13"
expect_report "$work/matrix.json" "r.rows.find((w) => w.check === 'api.vulkan').cells.filter((c) => c.runs > 1).length" 6
expect_exit 0 node "$validate" "$schemas/matrix.schema.json" "$work/matrix.json"
expect_exit 0 gpucert matrix . . "$set/matrix/nvidia-552.22-2019"
expect_says "nvlddmkm 31.0.15.5222 on Windows Server 2019 Datacenter 17763.6532 (recorded): 1 run"
