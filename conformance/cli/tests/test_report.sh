#!/bin/sh
# SPDX-License-Identifier: MIT
# The report of a run is made again from its journal, wherever that lies, and what was changed after the run is told.
# usage: test_report.sh BIN
. "$(dirname "$0")/lib.sh"

out=$work/report
expect_exit 0 gpucert run --launcher process --out "$out" environment.devices registration.arrives
digest=$(report "$out/report.json" "r.run.journal.digest")
expect_says "$digest"
cp "$out/report.json" "$work/original.json"
[ -n "$(ls "$out/evidence/environment.devices")" ] || complain "the run stored no evidence"

# Printing needs no right to write, and is no other report.
chmod -R a-w "$out"
chmod 755 "$work"
if [ "$(id -u)" -eq 0 ]; then
	mkdir -p "$work/copy/lib"
	cp -R "$bin" "$work/copy"
	cp -P "$bin"/../lib/*.so* "$work/copy/lib"
	expect_exit 0 setpriv --reuid 65534 --regid 65534 --clear-groups "$work/copy/bin/gpucert" report "$out"
else
	expect_exit 0 gpucert report "$out"
fi
expect_says "$digest"
chmod -R u+w "$out"
expect_exit 0 gpucert report --format json "$out"
cmp -s "$work/out" "$work/original.json" || complain "the report that is made again differs"

# What cannot be read or written is told, and fails.
expect_exit 3 gpucert report "$out/report.json"
expect_says "report.json: no journal.ndjson is in it; name the folder of a run"
expect_exit 3 gpucert report "$work"
expect_says "name the folder of a run"
expect_exit 3 gpucert compare "$work" "$out"
expect_says "no report.json is in it, and no journal.ndjson; name the folder of a run"
mkdir -p "$work/taken/report.json/below"
expect_exit 3 gpucert report --out "$work/taken" "$out"
expect_says "taken/report.json: "

# A reproducible report takes the place of no other.
expect_exit 0 gpucert report --reproducible --format json "$out"
grep -q '1970-01-01' "$work/out" || complain "the report is not reproducible"
expect_exit 3 gpucert report --reproducible --out "$out" "$out"
expect_says "the folder of a run"
cmp -s "$out/report.json" "$work/original.json" || complain "the run's own report was replaced"
expect_exit 0 gpucert report --reproducible --out "$work/other" "$out"
grep -q '1970-01-01' "$work/other/report.json" || complain "--out is not obeyed"

# A run that was killed before it had a report.
rm "$out/report.json" "$out/junit.xml"
expect_exit 0 gpucert report --out "$out" "$out"
cmp -s "$out/report.json" "$work/original.json" || complain "the report that is written again differs"

# Evidence and journal that are not those of the run.
evidence=$(ls "$out"/evidence/environment.devices/*)
cp "$evidence" "$work/evidence"
echo '{}' >"$evidence"
expect_exit 3 gpucert report "$out"
expect_says "$(basename "$evidence"): is sha256:"
expect_says "registration 1/1"
rm "$evidence"
expect_exit 3 gpucert report "$out"
expect_says "1 piece of evidence is not what the run stored"
cp "$work/evidence" "$evidence"
expect_exit 0 gpucert report "$out"
cp "$out/journal.ndjson" "$work/journal.ndjson"
sed 's/"outcome":"pass"/"outcome":"fail"/' "$work/journal.ndjson" >"$out/journal.ndjson"
expect_exit 3 gpucert report "$out"
expect_says "the journal was changed after the run"
sed '3d' "$work/journal.ndjson" >"$out/journal.ndjson"
expect_exit 3 gpucert report "$out"

# Two runs side by side, and both in one table.
expect_exit 0 gpucert run --launcher process --out "$work/second" environment.devices registration.arrives registration.version
cp "$work/journal.ndjson" "$out/journal.ndjson"
expect_exit 0 gpucert compare "$out" "$work/second/report.json"
expect_says "the same environment: 1 new check"
expect_says "new     registration.version  -       pass"
expect_exit 1 gpucert compare --fail-on change "$work/second" "$out"
expect_says "gone    registration.version  pass    -"
sed 's/"outcome": "pass"/"outcome": "fail"/' "$work/second/report.json" >"$work/failed.json"
expect_exit 1 gpucert compare --format json "$work/second" "$work/failed.json"
expect_says '"kind": "regression"'
expect_exit 0 gpucert compare --fail-on nothing "$work/second" "$work/failed.json"
expect_exit 1 gpucert compare --format html "$work/second" "$work/failed.json"
expect_says '<span class="badge bad">regression</span>'
expect_says "file://$work/second/report.html#"
expect_exit 3 gpucert compare "$work/second" "$work/journal.ndjson"
echo '{"schema": "gpucert-report/2"}' >"$work/empty.json"
expect_exit 3 gpucert compare "$work/empty.json" "$work/second" "$work/failed.json"
expect_says "empty.json: checks: missing"
expect_exit 1 gpucert compare "$work/second" "$work/second/report.json" "$work/failed.json"
expect_says "$work/second, "
expect_says "$work/failed.json, "
expect_exit 2 gpucert compare "$work/second"
rm -rf "$work/table"
mkdir -p "$work/table/broken"
mv "$out" "$work/second" "$work/table"
echo '{"schema":"gpucert-report/9"}' >"$work/table/broken/report.json"
expect_exit 3 gpucert matrix --format csv "$work/table"
expect_says "schema: gpucert-report/9 was written by a newer gpucert"
expect_says '"registration.arrives",'
rm -r "$work/table/broken"
expect_exit 0 gpucert matrix "$work/table"
expect_says "registration.arrives  pass 2"
expect_exit 0 gpucert matrix --format html "$work/table"
expect_says '<th scope="row" class="id">registration.arrives</th>'
expect_says "file://$work/table/second/report.html"
expect_exit 2 gpucert matrix
expect_exit 3 gpucert matrix "$work/nowhere"

# Pipes and links are not read; the other reports are.
mkdir "$work/table/pipe" "$work/table/link"
mkfifo "$work/table/pipe/report.json"
ln -s ../second/report.json "$work/table/link/report.json"
ln -s .. "$work/table/loop"
expect_exit 3 gpucert matrix "$work/table"
expect_says "pipe/report.json: a pipe or a device"
expect_says "2 of 4 files could not be read"
expect_says "link/report.json: a link, which is not followed"
expect_says "registration.arrives  pass 2"
expect_exit 3 gpucert matrix "$work/table/link"
expect_says "link/report.json: a link, which is not followed"
expect_says "link: no report.json is below"
expect_exit 3 gpucert matrix "$work/table/pipe/report.json"
[ ! -s "$work/out" ] || complain "a table is printed of no report"
expect_exit 3 gpucert compare "$work/table/pipe" "$work/table/second"
expect_says "a pipe or a device"
rm -r "$work/table/pipe" "$work/table/link" "$work/table/loop"

# What is known to fail does not fail the run; what is mended does, in its first line.
known() { # CHECK REVIEW-BY
	cat >"$work/known.json" <<-END
		{"schema": "gpucert-expectations/1", "rows": [{"check": "$1", "expect": "fail", "match": {"os": "linux"}, "why": "It asks for v1alpha.",
		"link": "https://example.com/1", "added": "2026-11-01", "seenWith": "a plugin", "reviewBy": "$2"}]}
	END
}
next_year=$(($(date +%Y) + 1))-01-01
known registration.version "$next_year"
expect_exit 1 gpucert run --launcher process --expect "$work/known.json" --out "$work/fixed" registration.version
[ "$(head -n 1 "$work/out" | cut -d ' ' -f 1)" = FIXED ] || complain "the first line does not tell that a known failure is mended"
expect_says "remove the expectation known#1"
expect_exit 0 gpucert expect explain "$work/known.json" --report "$work/fixed"
expect_says "registration.version: pass, unexpected-improvement"
expect_exit 1 gpucert expect update "$work/known.json" --report "$work/fixed" --report "$work/fixed"
expect_says "- known#1 (registration.version) with "
expect_says ": it passed in each of 2 runs"
expect_exit 0 gpucert expect check "$work/known.json" windows-gpus
known registration.versoin "$next_year"
expect_exit 3 gpucert expect check "$work/known.json"
expect_says "did you mean 'registration.version'?"
expect_exit 3 gpucert run --launcher process --expect "$work/known.json" --out "$work/never"
known registration.version 2026-01-01
expect_exit 3 gpucert expect check "$work/known.json"
expect_says "was to be reviewed by 2026-01-01"
expect_exit 3 gpucert expect check nothing-of-that-name
expect_exit 2 gpucert expect check
