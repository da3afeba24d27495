# SPDX-License-Identifier: MIT
# shellcheck shell=sh disable=SC2154
# For the tests of attestations: sourced behind lib.sh with the sources in $source.
here=$source/conformance/cli/tests
golden=$source/reports/tests/golden

# make_report FOLDER [EDIT...]: the folder of a conformant run, changed by JavaScript (make_report.mjs).
make_report() {
	folder=$1
	shift
	node "$here/make_report.mjs" "$golden/complete/journal.ndjson" "$folder" "$@"
	gpucert report --out "$folder" "$folder" >/dev/null 2>"$work/err" || [ -e "$folder/report.json" ]
}

sign() {
	node "$here/sign.mjs" "$@"
}

# expect_faults "KIND..." COMMAND...: exit code 1, and as JSON these faults, each of them, no other.
expect_faults() {
	faults=$1
	shift
	expect_exit 1 "$@"
	for kind in $faults; do
		expect_says ": $kind: "
	done
	expect_exit 1 "$@" --json
	seen=$(node -e 'const r = JSON.parse(require("fs").readFileSync(process.argv[1]));
		console.log([...new Set(r.faults.map((f) => f.kind))].join(" ") + (r.verified ? " verified" : ""))' "$work/out")
	[ "$seen" = "$faults" ] || complain "the faults are '$seen', expected '$faults': $*"
}
