#!/bin/sh
# SPDX-License-Identifier: MIT
# Every file that a run writes is what its readers take, after a run that passes and after one whose plugin answers with markup of
# all kinds; and what `gpucert report --format` prints is that again. usage: test_formats.sh BIN VALIDATE MARKDOWN SCHEMAS
. "$(dirname "$0")/lib.sh"
validate=$2 markdown=$3 schemas=$4

check() { # FILE FORMAT
	case $2 in
	report.json) expect_exit 0 node "$validate" "$schemas/report.schema.json" "$1" ;;
	journal.ndjson) expect_exit 0 node "$validate" "$schemas/journal.schema.json" "$1" ;;
	junit.xml) expect_exit 0 xmllint --noout --nonet --schema "$schemas/junit.xsd" "$1" ;;
	report.md) expect_exit 0 node "$markdown" "$1" ;;
	report.html) grep -qi '^<!doctype html>' "$1" || complain "$1 is not HTML" ;; # the tests of reports/pages open it in a browser
	evidence) ;;
	*) complain "nothing here validates $1" ;;
	esac
}

check_run() { # OUT
	for file in "$1"/*; do
		check "$file" "$(basename "$file")"
	done
	for format in json:report.json junit:junit.xml markdown:report.md html:report.html; do
		name=${format#*:}
		[ -s "$1/$name" ] || complain "the run wrote no $name"
		expect_exit 0 gpucert report --format "${format%:*}" "$1"
		mkdir -p "$work/printed"
		cp "$work/out" "$work/printed/$name"
		check "$work/printed/$name" "$name"
	done
}

expect_exit 0 gpucert run --launcher process --out "$work/passed" environment.devices registration allocate.each-and-all
check_run "$work/passed"
cat >"$work/script.json" <<'END'
{"plugins": [{"resource": "example.com/gpu", "devices": [{"id": "a"}], "rpc": {"Allocate": {"code": "INTERNAL",
"message": "]]> | `x` <b>b</b> <!-- [a](b) ![c](d) @someone www.a.example https://a.example &lt; \u0001\u202e\ufffe\n\n# h\n- i\n\n***\u001b[2J"}}}]}
END
expect_exit 1 gpucert run --launcher process --plugin "'$bin/../tests/scripted-plugin' '$work/script.json' {plugin-dir}" \
	--out "$work/failed" registration allocate
grep -q someone "$work/failed/report.md" || complain "the markup did not come so far"
check_run "$work/failed"
