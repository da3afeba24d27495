#!/bin/sh
# SPDX-License-Identifier: MIT
# Reports of many nodes become groups; a torn one, one that lies and one that is a link are refused and not counted.
# usage: test_fleet_merge.sh BIN VALIDATE SCHEMA
. "$(dirname "$0")/lib.sh"
validate=$2
schema=$3
reports=$work/reports

expect_exit 0 gpucert run --quiet --launcher process --out "$work/run" environment.devices
# A report for each node, with a journal of its own; on the last two a check fails.
node - "$work/run/report.json" "$reports" <<'E2'
	const fs = require('fs');
	const report = JSON.parse(fs.readFileSync(process.argv[2]));
	for (const node of ['a', 'b', 'c', 'd', 'e']) {
		const fails = node > 'c';
		report.run.journal.digest = `sha256:${node.repeat(64)}`;
		report.checks[0].outcome = fails ? 'fail' : 'pass';
		report.checks[0].reason = fails ? `device 0000:${node}0:00.0 is lost` : '';
		fs.mkdirSync(`${process.argv[3]}/${node}`, {recursive: true});
		fs.writeFileSync(`${process.argv[3]}/${node}/report.json`, JSON.stringify(report));
	}
E2

expect_exit 0 gpucert fleet merge "$reports"
expect_says "5 nodes: 0 conformant, 0 violated, 5 incomplete; reports: 0 superseded, 0 refused"
expect_says "2 of 5      environment.devices: fail: device # is lost"
expect_says "nodes d, e"
cp "$work/out" "$work/text"
find "$reports" -name report.json | sort -r >"$work/names"
gpucert fleet merge - <"$work/names" >"$work/out" || complain "names on standard input are not read"
cmp -s "$work/text" "$work/out" || complain "the order of the reports changes the output"
printf 'no/such/file' | gpucert fleet merge - >"$work/out" 2>"$work/err" && complain "a missing file is no failure"
expect_says "1 reports were refused"
expect_exit 3 gpucert fleet merge -
expect_says "standard input names no report"

# A node with two reports counts once; a torn report, a link, and a copy of another node's report do not.
mkdir -p "$work/more/a" "$work/more/torn" "$work/more/link" "$work/more/thief"
sed 's/"started":"2/"started":"3/' "$reports/a/report.json" | sed 's/aaaa/ffff/' >"$work/more/a/report.json"
head -c 1000 "$reports/b/report.json" >"$work/more/torn/report.json"
ln -s "$reports/b/report.json" "$work/more/link/report.json"
cp "$reports/c/report.json" "$work/more/thief/report.json"
expect_exit 3 gpucert fleet merge --json "$reports" "$work/more"
expect_says "link/report.json: a link, which is not followed"
expect_says "torn/report.json: "
expect_says "thief/report.json: other nodes have the same run"
expect_says "4 reports were refused, and are not counted"
cp "$work/out" "$work/fleet.json"
expect_report "$work/fleet.json" "r.nodes.map((n) => n.name).join()" a,b,d,e
expect_report "$work/fleet.json" "r.nodes[0].started[0]" 3
expect_report "$work/fleet.json" "r.superseded.length" 1
node "$validate" "$schema/fleet.schema.json" "$work/fleet.json" || complain "the JSON is not as its schema says"

# The patches of a node, if the report can be its own.
node - "$work/run/report.json" >"$work/node.json" <<'E2'
	const {environment} = JSON.parse(require('fs').readFileSync(process.argv[2]));
	console.log(JSON.stringify({kind: 'Node', metadata: {name: 'a', resourceVersion: '1'},
		status: {nodeInfo: {kernelVersion: environment.os.kernel}}}));
E2
expect_exit 0 gpucert fleet patch "$work/run" "$work/node.json"
cp "$work/out" "$work/patch.json"
node "$validate" "$schema/fleet-patch.schema.json" "$work/patch.json" || complain "the patches are not as their schema says"
expect_report "$work/patch.json" "r.condition.patch.status.conditions[0].status" Unknown
sed 's/"kernelVersion":"/&x/' "$work/node.json" >"$work/other.json"
expect_exit 3 gpucert fleet patch "$work/run" "$work/other.json"
expect_says "other.json: the report is of kernel"
expect_exit 3 gpucert fleet patch "$work/run" "$work/fleet.json"

# An incomplete run implements nothing, and a journal that was changed is not read.
expect_exit 1 gpucert evidence "$work/run" --out "$work/evidence"
expect_says "nothing is called implemented"
expect_says "KAR-0049 secure_accelerator_access: not proven"
[ ! -e "$work/evidence/PRODUCT-fragment.yaml" ] || complain "an incomplete run writes entries for PRODUCT.yaml"
! grep -r "Implemented" "$work/evidence"/*.md || complain "an incomplete run is called implemented"
sed -i '2s/"time":"2/"time":"3/' "$work/run/journal.ndjson"
expect_exit 3 gpucert evidence "$work/run" --out "$work/evidence"
expect_exit 3 gpucert evidence "$work/none" --out "$work/evidence"
