#!/bin/sh
# SPDX-License-Identifier: MIT
# Whose machine it was is not in what a run stores, whatever the plugin says, nor in a bundle of it; verdicts are the same.
# usage: test_redaction.sh BIN SCRIPTED-PLUGIN VALIDATE SCHEMAS
if [ "${GPUCERT_TEST_HOST:-}" = "" ]; then
	if [ "$(id -u)" -ne 0 ] || ! unshare -u true 2>/dev/null; then
		echo "skipped: needs a host name of its own"
		exit 77
	fi
	GPUCERT_TEST_HOST=zanzibar-17 exec unshare -u sh "$0" "$@"
fi
. "$(dirname "$0")/lib.sh"
hostname "$GPUCERT_TEST_HOST"
home=$work/people/wilhelmina
export USER=wilhelmina LOGNAME=wilhelmina SUDO_USER=wilhelmina HOME="$home" NODE_NAME=rack9-node.example TESTS_API_TOKEN=open-sesame-91 NGC_KEY=sesame-92-key
# What else the host is known by: an address, a MAC address, the boot and the name in a domain.
boot=$(cat /proc/sys/kernel/random/boot_id)
address=$(hostname -I | cut -d' ' -f1)
mac=$(cat /sys/class/net/*/address 2>/dev/null | grep -v '^00:00:00:00:00:00$' | head -n 1)
domain=$(sed -n 's/^\(search\|domain\)[[:space:]]*\([^[:space:]]*\).*/\2/p' /etc/resolv.conf | head -n 1)
traces="host zanzibar-17${domain:+.$domain} ${address:+at $address} ${mac:+$mac} boot $boot"
mkdir -p "$home/plugins"

# A plugin that tells who and where it is: in its log, its devices, its answers and its errors.
one=GPU-0a1b2c3d-1111-2222-3333-0123456789ab
two=GPU-0a1b2c3d-1111-2222-3333-0123456789ac
cat >"$home/plugins/script.json" <<END
{"plugins": [{"resource": "example.com/gpu", "devices": [{"id": "$one"}, {"id": "$two"}],
"allocate": {"each": {"envs": {"WHERE": "zanzibar-17:$home", "VISIBLE": "{id}", "REGISTRY_PASSWORD": "swordfish-3", "TRACES": "$traces", "TERMINAL": "\\u009b31m\\u202ereversed"},
"annotations": {"node.example/ZANZIBAR-17": "rack9-node.example of wilhelmina"}, "mounts": [{"host_path": "$home/plugins", "container_path": "/x", "read_only": true}]}}}]}
END
cat >"$home/plugins/plugin.sh" <<'END'
echo "up on $(hostname) ($NODE_NAME) for $USER in $HOME, C:\\Users\\Wilhelmina\\gpu, {\"log\":\"\\nzanzibar-17\"}" >&2
printf '\033[31mzanzibar-17\033[0m Authorization: Bearer open-sesame-91\n' >&2
env | sort >&2
exec "$1" "$2/script.json" "$3"
END

scripted=$2
# run OUT OPTION...: the run of this plugin.
run() {
	out=$1
	shift
	code=0
	gpucert run --quiet --launcher process --out "$out" "$@" --plugin "sh $home/plugins/plugin.sh $scripted $home/plugins {plugin-dir}" \
		--fail-device "true swordfish" "--restore-device=true swordfish" \
		environment registration.arrives registration.version allocate.each-and-all allocate.order list-and-watch.devices-present api.opencl >"$work/out" 2>"$work/err" </dev/null || code=$?
}
# identities FOLDER: the files that hold one.
identities() {
	grep -rliE 'zanzibar|rack9|wilhelmina|people/|open-sesame|sesame-92|swordfish|0123456789a[bc]' "$1" | sort
	for trace in "$boot" $address $mac; do
		grep -rliwF -e "$trace" "$1" | sort
	done
	find "$1" | grep -iE 'zanzibar|wilhelmina|0123456789a[bc]' || true
}
# harmful FILE...: those that hold controls other than tabs and line ends, or override the direction of text.
harmful() {
	LC_ALL=C.UTF-8 grep -lP '[\x00-\x08\x0b\x0c\x0e-\x1f\x7f-\x9f\x{202a}-\x{202e}\x{2066}-\x{2069}]' "$@" || true
}
outcomes='r.checks.map((c) => c.id + " " + c.outcome).join()'

# The home folder is where the run stores as well.
run "$home/report" --ci github
cp "$work/out" "$work/ci-out"
cp -R "$home/report" "$work/redacted"
r=$work/redacted/report.json
found=$(identities "$work/redacted")
[ -z "$found" ] || complain "whose machine it was is in $found: $(grep -rhoiE '.{30}(zanzibar|rack9|wilhelmina|people/|open-sesame|swordfish|0123456789a[bc]).{10}' "$work/redacted" | head -n 5)"
grep -q '<host>.*<host-2>' "$work/redacted/evidence/registration.arrives/"*plugin-output.txt || complain "the plugin's log is not kept"
grep -q "<user> in <home>, <home-" "$work/redacted/evidence/registration.arrives/"*plugin-output.txt || complain "home folders are not told from each other"
expect_report "$r" "r.environment.redaction.hostIdentity" redacted
expect_report "$r" "r.environment.redaction.facts" undefined
expect_report "$r" "r.run.invocation.argv.includes('<home>/report')" true
# Two devices are two.
expect_report "$r" "new Set(JSON.stringify(r.checks).match(/GPU-<serial-[0-9a-f]{8}>/g)).size" 2
expect_exit 0 gpucert report "$work/redacted"
# What is printed, and what is stored as JSON, does nothing to a terminal.
for format in summary json junit markdown sonobuoy html; do
	expect_exit 0 gpucert report --format $format "$work/redacted"
	[ -z "$(harmful "$work/out")" ] || complain "--format $format prints control characters"
done
found=$(find "$work/redacted" -name '*.json' -o -name '*.ndjson' -o -name '*.xml' -o -name '*.md' -o -name '*.html' | sort)
grep -rq 'u009b31m' "$work/redacted/evidence" || complain "the answer's control characters are nowhere"
# shellcheck disable=SC2086 # one name a word
found=$(harmful $found)
[ -z "$found" ] || complain "control characters are in $found"
# A CI system's log is read by others.
! grep -qiE 'zanzibar|rack9|wilhelmina|open-sesame|swordfish' "$work/ci-out" || complain "the log of a CI system tells whose machine it is"

# The same with identities: all of it is there but the secrets, and every verdict is the same.
run "$work/kept" --include-host-identity
k=$work/kept/report.json
for word in zanzibar-17 rack9-node wilhelmina "$home" "$one"; do
	grep -rq "$word" "$work/kept" || complain "--include-host-identity does not keep $word"
done
! grep -rqE 'open-sesame|swordfish' "$work/kept" || complain "a secret is kept: $(grep -rlE 'open-sesame|swordfish' "$work/kept")"
expect_report "$k" "r.environment.redaction.hostIdentity" included
expect_report "$k" "r.environment.redaction.facts.some((f) => f.kind === 'user' && f.value === 'wilhelmina')" true
[ "$(report "$r" "$outcomes")" = "$(report "$k" "$outcomes")" ] || complain "a verdict depends on what is redacted"
node='JSON.stringify([r.environment.node, r.environment.os, r.environment.drivers, r.environment.devices])'
[ "$(report "$r" "$node")" = "$(report "$k" "$node")" ] || complain "the environment depends on what is redacted"

# unpack ARCHIVE: prints the only folder in it.
unpack() {
	rm -rf "$work/unpacked"
	mkdir "$work/unpacked"
	tar -xzf "$1" -C "$work/unpacked" 2>"$work/tar" || complain "tar cannot unpack $1"
	[ ! -s "$work/tar" ] || complain "tar warns of $1: $(cat "$work/tar")"
	echo "$work/unpacked"/*
}
# same A B: two folders hold the same.
same() {
	diff -r "$1" "$2" >"$work/diff" || complain "$1 and $2 differ: $(head -n 5 "$work/diff")"
}

# A bundle of a run that redacted is what the run stored, and nothing else that lies there.
cp -R "$work/redacted" "$work/more"
echo "zanzibar-17" >"$work/more/notes.txt"
ln -s /etc "$work/more/evidence/etc"
expect_exit 0 gpucert bundle -o "$work/a.tar.gz" "$work/more"
expect_says "as the run stored it (journal $(report "$r" r.run.journal.digest))"
same "$work/redacted" "$(unpack "$work/a.tar.gz")"
expect_exit 0 gpucert report "$(unpack "$work/a.tar.gz")"
[ "$(tar -tzf "$work/a.tar.gz")" = "$(tar -tzf "$work/a.tar.gz" | LC_ALL=C sort)" ] || complain "the archive is not sorted"
touch "$work/redacted/report.json"
expect_exit 0 gpucert bundle -o "$work/b.tar.gz" "$work/redacted"
cmp "$work/a.tar.gz" "$work/b.tar.gz" || complain "two bundles of one run differ"
cd "$work"
expect_exit 0 gpucert bundle redacted/
cmp "$work/redacted.tar.gz" "$work/a.tar.gz" || complain "no bundle by the folder's name"
cd "$OLDPWD"

# Of a run that kept them, identities are taken out on the way: it is the report that the run would have made.
expect_exit 0 gpucert bundle -o "$work/c.tar.gz" "$work/kept"
expect_says "redacted: journal, evidence and reports are not those that the run stored"
folder=$(unpack "$work/c.tar.gz")
found=$(identities "$folder")
[ -z "$found" ] || complain "a bundle holds identities: $found"
expect_exit 0 gpucert report "$folder"
[ "$(report "$r" "$outcomes")" = "$(report "$folder/report.json" "$outcomes")" ] || complain "a verdict depends on the bundle"
expect_report "$folder/report.json" "r.environment.redaction.hostIdentity" redacted
expect_report "$folder/report.json" "r.environment.redaction.rewrittenFrom" "$(report "$k" r.run.journal.digest)"
[ "$(report "$r" "r.checks.flatMap((c) => c.evidence.map((e) => e.path)).join()")" = \
	"$(report "$folder/report.json" "r.checks.flatMap((c) => c.evidence.map((e) => e.path)).join()")" ] || complain "evidence has other names in a bundle"
expect_exit 0 node "$3" "$4/report.schema.json" "$r" "$k" "$folder/report.json"
expect_exit 0 node "$3" "$4/journal.schema.json" "$folder/journal.ndjson" "$work/kept/journal.ndjson"
expect_exit 0 gpucert bundle --include-host-identity -o "$work/d.tar.gz" "$work/kept"
same "$work/kept" "$(unpack "$work/d.tar.gz")"

# What is not what the run stored is not bundled, and an archive that is there stays.
refuses() { # TEXT
	expect_exit 3 gpucert bundle -o "$work/a.tar.gz" "$work/bad"
	expect_says "$1"
	cmp -s "$work/a.tar.gz" "$work/b.tar.gz" || complain "a refused bundle is written"
	rm -rf "$work/bad"
	cp -R "$work/redacted" "$work/bad"
}
cp -R "$work/redacted" "$work/bad"
evidence=$(cd "$work/bad" && ls evidence/registration.arrives/*plugin-output.txt)
echo more >>"$work/bad/$evidence"
refuses "$evidence: "
mv "$work/bad/$evidence" "$work/elsewhere" && ln -s "$work/elsewhere" "$work/bad/$evidence"
refuses "$evidence: a symbolic link"
rm "$work/bad/$evidence" && mkfifo "$work/bad/$evidence"
refuses "$evidence: "
mv "$work/bad/journal.ndjson" "$work/elsewhere" && ln -s "$work/elsewhere" "$work/bad/journal.ndjson"
refuses "journal.ndjson: a symbolic link"
sed -i 's/"outcome":"pass"/"outcome":"fail"/' "$work/bad/journal.ndjson"
refuses "the journal was changed after the run"
rm "$work/bad/journal.ndjson"
refuses "journal.ndjson: "
expect_exit 2 gpucert bundle
expect_exit 2 gpucert bundle a b
expect_exit 3 gpucert bundle -o "$work/nowhere/a.tar.gz" "$work/redacted"
