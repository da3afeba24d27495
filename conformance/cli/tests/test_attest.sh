#!/bin/sh
# SPDX-License-Identifier: MIT
# Keys, attestations and what is wrong with one, each with its own word; other programs read and make the same.
# usage: test_attest.sh BIN SOURCE VALIDATE.mjs
. "$(dirname "$0")/lib.sh"
source=$2
validate=$3
. "$(dirname "$0")/attest_lib.sh"
run=$work/run
key=$work/vendor.key
public=$key.pub

# Keys: written once, secret, and the same to OpenSSL.
umask 022
expect_exit 0 gpucert key generate "$key"
keyid=$(sed -n 's/^keyid //p' "$work/out")
[ "$(stat -c %a "$key") $(stat -c %a "$public")" = "600 644" ] || complain "the modes of the key files"
cp "$key" "$work/before"
expect_exit 3 gpucert key generate "$key"
expect_says "no key is overwritten"
mv "$public" "$work/kept.pub"
expect_exit 3 gpucert key generate "$key"
expect_says "$key: exists"
[ ! -e "$public" ] || complain "half a pair was written"
mv "$work/kept.pub" "$public"
cmp -s "$key" "$work/before" || complain "the key was overwritten"
expect_exit 3 gpucert key generate "$work/nowhere/key"
expect_exit 2 gpucert key generate
openssl pkey -in "$key" -pubout | cmp -s - "$public" || complain "OpenSSL makes another public key of the private one"
[ "$(openssl pkey -pubin -in "$public" -outform DER | sha256sum | cut -d ' ' -f 1)" = "$keyid" ] ||
	complain "the keyid is not the SHA-256 of the public key"
[ "$(sign keyid "$public")" = "$keyid" ] || complain "Node tells another keyid"
expect_exit 0 gpucert key show "$key"
expect_says "keyid $keyid"
cp "$work/out" "$work/shown.pub"
expect_exit 0 gpucert key show "$work/shown.pub"
expect_says "keyid $keyid"
(umask 077 && openssl genpkey -algorithm ed25519 -out "$work/openssl.key")
expect_exit 0 gpucert key show "$work/openssl.key"
cp "$work/out" "$work/openssl.pub"

# A conformant run, attested with either key.
make_report "$run"
expect_exit 0 gpucert attest "$run" --key "$work/openssl.key" --out "$work/openssl.json"
expect_exit 0 gpucert verify "$run" --key "$work/openssl.pub" --attestation "$work/openssl.json"
expect_exit 0 gpucert attest "$run" --key "$key" --url https://ci.example/1
expect_exit 0 gpucert verify "$run" --key "$public"
expect_says "what $keyid attested"
expect_says "result PASSED, conformant"
expect_exit 0 gpucert verify "$run" --key "$public" --json
cp "$work/out" "$work/good.json"

# A bundle of what the run stored is what was attested; one with other digests has no attestation.
mkdir "$work/stored" "$work/rewritten"
expect_exit 0 gpucert bundle "$run" --include-host-identity --out "$work/stored.tar.gz"
tar -xzf "$work/stored.tar.gz" -C "$work/stored" --strip-components 1
expect_exit 0 gpucert verify "$work/stored" --key "$public"
expect_exit 0 gpucert bundle "$run" --out "$work/rewritten.tar.gz"
tar -xzf "$work/rewritten.tar.gz" -C "$work/rewritten" --strip-components 1
[ ! -e "$work/rewritten/attestation.json" ] || complain "a bundle of other digests has the attestation"
[ -e "$work/rewritten/report.json" ] || complain "no report in a bundle"

# The same bytes for others: OpenSSL and Node verify the signature, and what they sign is taken.
sign pae "$run/attestation.json" >"$work/pae"
sign sig "$run/attestation.json" >"$work/sig"
openssl pkeyutl -verify -rawin -pubin -inkey "$public" -in "$work/pae" -sigfile "$work/sig" >"$work/out" ||
	complain "OpenSSL does not verify the signature"
sign verify "$public" "$run/attestation.json" || complain "Node does not verify the signature"
openssl pkeyutl -sign -rawin -inkey "$key" -in "$work/pae" | cmp -s - "$work/sig" ||
	complain "OpenSSL signs otherwise (Ed25519 is deterministic)"
node -e 'process.stdout.write(Buffer.from(JSON.parse(require("fs").readFileSync(process.argv[1])).payload, "base64"))' \
	"$run/attestation.json" >"$work/payload"
for how in "" url keyless other "url other keyless"; do
	# shellcheck disable=SC2086
	sign sign "$key" application/vnd.in-toto+json "$work/payload" $how >"$work/by-node.json"
	expect_exit 0 gpucert verify "$run" --key "$public" --attestation "$work/by-node.json"
done
node -e '
	const s = JSON.parse(require("fs").readFileSync(process.argv[1]));
	const {createHash} = require("crypto"), {execSync} = require("child_process");
	const hash = (data) => createHash("sha256").update(data).digest("hex");
	const named = Object.fromEntries(s.predicate.configuration.map((d) => [d.name, d.digest.sha256]));
	for (const name of ["report.json", "journal.ndjson", "junit.xml"])
		if (named[name] !== hash(require("fs").readFileSync(process.argv[2] + "/" + name)))
			throw new Error(name);
	const listed = execSync("sha256sum $(find evidence -type f) | LC_ALL=C sort", {cwd: process.argv[2]});
	if (named.evidence !== hash(listed))
		throw new Error("evidence");
	const names = s.subject.map((d) => d.name).join(" ");
	if (names !== "plugin/device-plugin-gpu runtime-files/lavapipe runtime-files/pocl image/gpucert.internal/probe:1")
		throw new Error(names);
	if (s.predicate.url !== "https://ci.example/1" || s.predicate.passedTests.length !== 6)
		throw new Error(JSON.stringify(s.predicate));
' "$work/payload" "$run" || complain "the statement is not about the run"

# Each fault has its own word.
changed() { # a copy to spoil
	rm -rf "$work/changed"
	cp -R "$run" "$work/changed"
}
with_rights_of_a_user() { # root may read everything
	if [ "$(id -u)" -eq 0 ]; then
		setpriv --bounding-set=-dac_override,-dac_read_search "$@"
	else
		"$@"
	fi
}
spoiled() { # KINDS [OPTION...]
	kinds=$1
	shift
	expect_faults "$kinds" gpucert verify "$work/changed" --key "$public" "$@"
}
changed
sed -i 's/"conformant"/"Conformant"/' "$work/changed/report.json"
spoiled tampered-report
changed
echo '{' >"$work/changed/report.json"
spoiled tampered-report
cp "$work/out" "$work/bad.json"
rm "$work/changed/evidence/api.vulkan/01-allocate.json"
echo x >>"$work/changed/evidence/api.vulkan/02-probe.json"
spoiled "tampered-report missing-evidence changed-evidence"
changed
rm "$work/changed/report.json"
spoiled missing-file
rm "$work/changed/evidence/api.vulkan/01-allocate.json"
spoiled "missing-file missing-evidence"
changed
rm "$work/changed/journal.ndjson"
mkdir "$work/changed/journal.ndjson"
spoiled tampered-journal
expect_says "journal.ndjson: a folder, not a file"
changed
sed -i 's/"type":"run-end"/"type" :"run-end"/' "$work/changed/journal.ndjson"
spoiled tampered-journal
changed
sed -i '3s/"type"/"Type"/' "$work/changed/journal.ndjson"
spoiled "broken-journal tampered-journal"
changed
sed -i 5d "$work/changed/journal.ndjson"
spoiled "broken-journal tampered-journal"
changed
echo '<testsuites/>' >"$work/changed/junit.xml"
spoiled changed-file
changed
echo '{"schema": "gpucert-claims/1", "claims": []}' >"$work/changed/claims.json"
spoiled unattested-file
changed
rm "$work/changed/evidence/api.vulkan/01-allocate.json"
spoiled missing-evidence
changed
echo x >>"$work/changed/evidence/api.vulkan/02-probe.json"
spoiled changed-evidence
changed
chmod 0 "$work/changed/evidence/api.vulkan/02-probe.json" "$work/changed/junit.xml"
expect_faults unreadable-file with_rights_of_a_user gpucert verify "$work/changed" --key "$public"
changed
mv "$work/changed/evidence" "$work/changed/other"
ln -s other "$work/changed/evidence"
spoiled changed-evidence
changed
mv "$work/changed/report.json" "$work/changed/other"
ln -s other "$work/changed/report.json"
spoiled "symbolic-link"
changed
rm "$work/changed/attestation.json"
spoiled missing-file
expect_faults wrong-key gpucert verify "$run" --key "$work/openssl.pub"
expect_faults wrong-key gpucert verify "$run" --key "$public" --attestation "$work/openssl.json"

# Envelopes and what is in them.
attested() { # KINDS, the envelope on standard input
	cat >"$work/changed.json"
	expect_faults "$1" gpucert verify "$run" --key "$public" --attestation "$work/changed.json"
}
edit() { # JavaScript over the envelope e
	node -e 'const e = JSON.parse(require("fs").readFileSync(process.argv[1])); eval(process.argv[2]); console.log(JSON.stringify(e))' \
		"$run/attestation.json" "$1"
}
echo 'nothing' | attested broken-envelope
echo '[]' | attested broken-envelope
edit 'delete e.payload' | attested broken-envelope
edit 'e.payload = "*" + e.payload' | attested broken-envelope
edit 'e.signatures = []' | attested broken-envelope
edit 'e.signatures = Array(17).fill(e.signatures[0])' | attested broken-envelope
edit 'e.signatures[0].sig = 7' | attested broken-envelope
sed 's/^{/{"payload": "AA==",/' "$run/attestation.json" | attested broken-envelope
edit 'e.payload = Buffer.from(Buffer.from(e.payload, "base64").toString().replace("PASSED", "FAILED")).toString("base64")' | attested bad-signature
edit 'e.payloadType = "application/json"' | attested bad-signature
edit 'e.signatures[0].sig = "AAAA"' | attested bad-signature
sign sign "$key" application/json "$work/payload" | attested broken-payload
echo '{}' >"$work/empty"
sign sign "$key" application/vnd.in-toto+json "$work/empty" | attested broken-payload
resigned() { # KINDS EDIT: a statement that gpucert would not make, rightly signed
	sign resign "$key" "$run/attestation.json" "$2" | attested "$1"
}
resigned broken-payload 's.predicateType = "https://slsa.dev/provenance/v1"'
resigned subject-mismatch 's.subject[0].digest = {sha256: "A"}'
resigned result-mismatch 's.predicate.result = "GOOD"'
resigned subject-mismatch 's.subject[0].digest.sha256 = "0".repeat(64)'
resigned subject-mismatch 's.subject.pop()'
resigned result-mismatch 's.predicate.result = "WARNED"'
resigned result-mismatch 's.predicate.passedTests.push("api.cuda")'
resigned changed-evidence 's.predicate.configuration.find((d) => d.name === "evidence").digest.sha256 = "0".repeat(64)'
sign resign "$key" "$run/attestation.json" 's.more = 1; s.predicate.more = [1]' >"$work/changed.json"
expect_exit 0 gpucert verify "$run" --key "$public" --attestation "$work/changed.json"

# A report that was never what its journal says: not signed, and found out where another tool signed it.
changed
sed -i 's/"title": "The check api.opencl"/"title": "Another"/' "$work/changed/report.json"
expect_exit 1 gpucert attest "$work/changed" --key "$key"
expect_says "report-not-of-journal: "
cmp -s "$work/changed/attestation.json" "$run/attestation.json" || complain "a wrong report was attested"
sha=$(sha256sum "$work/changed/report.json" | cut -d ' ' -f 1)
sign resign "$key" "$run/attestation.json" "s.predicate.configuration[0].digest.sha256 = '$sha'" >"$work/changed/attestation.json"
spoiled report-not-of-journal
changed
rm "$work/changed/evidence/api.vulkan/01-allocate.json"
expect_exit 1 gpucert attest "$work/changed" --key "$key"
expect_says "missing-evidence: "
mkfifo "$work/pipe"
expect_exit 3 gpucert attest "$run" --key "$key" --out "$work/pipe"
expect_says "a pipe or a device; name a file"
make_report "$work/outside" 'for (const e of of("evidence")) e.path = "../run/" + e.path'
expect_exit 1 gpucert attest "$work/outside" --key "$key"
expect_says "changed-evidence: ../run/evidence/api.vulkan/01-allocate.json: not below evidence/"
make_report "$work/twice" 'Object.assign(of("evidence")[1], {path: of("evidence")[0].path, digest: of("evidence")[0].digest, bytes: of("evidence")[0].bytes})'
expect_exit 1 gpucert attest "$work/twice" --key "$key"
expect_says "changed-evidence: evidence/api.vulkan/01-allocate.json is named twice"
expect_exit 3 gpucert bundle "$work/twice" --out "$work/twice.tar.gz"
expect_says "evidence/api.vulkan/01-allocate.json: the journal names it twice"
[ ! -e "$work/outside/attestation.json" ] || complain "evidence outside of the folder was attested"
# Of another version's report only what it has is compared.
make_report "$work/older" 'of("run-begin")[0].harness.version = "0.0.9"'
sed -i '/"overheadPercent"/d; s/\("totalMs": [0-9]*\),/\1/' "$work/older/report.json"
expect_exit 0 gpucert attest "$work/older" --key "$key"
expect_exit 0 gpucert verify "$work/older" --key "$public"

# Papers that nobody can read are not signed.
changed
echo '{"schema": "gpucert-claims/1"}' >"$work/changed/claims.json"
expect_exit 1 gpucert attest "$work/changed" --key "$key"
expect_says "claims: claims.json: claims: missing"
spoiled "unattested-file claims"
rm "$work/changed/claims.json"
echo 'vendor: Yoyodyne' >"$work/changed/product.yaml"
expect_exit 1 gpucert attest "$work/changed" --key "$key"
expect_says "product: product.yaml: name: missing"

# A failed run can be attested, and its result is FAILED; one in which not all was tested, too.
make_report "$work/failed" 'Object.assign(end("api.opencl"), {outcome: "fail", reason: "it is wrong"})'
expect_exit 0 gpucert attest "$work/failed" --key "$key"
expect_exit 0 gpucert verify "$work/failed" --key "$public"
expect_says "result FAILED, not conformant, violated: API-01"
make_report "$work/should" 'Object.assign(end("registration.options"), {outcome: "fail", reason: "it is wrong"})'
expect_exit 0 gpucert attest "$work/should" --key "$key"
expect_exit 0 gpucert verify "$work/should" --key "$public"
expect_says "result WARNED, conformant"
make_report "$work/open" 'Object.assign(end("api.opencl"), {outcome: "unsupported", reason: "no containers"})'
expect_exit 0 gpucert attest "$work/open" --key "$key"
expect_exit 0 gpucert verify "$work/open" --key "$public"
expect_says "result FAILED, conformance not proven"
make_report "$work/unknown" 'for (const r of of("environment")) for (const k of ["plugin", "devices", "images"]) delete r.environment[k]'
expect_exit 3 gpucert attest "$work/unknown" --key "$key"
expect_says "there is nothing that it could attest"

# The attestation of another run.
expect_faults "tampered-report tampered-journal changed-file" gpucert verify "$run" --key "$public" --attestation "$work/failed/attestation.json"
expect_says "report.json was changed, or belongs to another run: "

# Is it about this file?
bytes='the plugin'
printf %s "$bytes" >"$work/plugin"
sha=$(sha256sum "$work/plugin" | cut -d ' ' -f 1)
make_report "$work/mine" "for (const r of of('environment')) if (r.environment.plugin) r.environment.plugin.binaryDigest = 'sha256:$sha'"
expect_exit 0 gpucert attest "$work/mine" --key "$key"
expect_exit 0 gpucert verify "$work/mine" --key "$public" --subject "$work/plugin"
expect_faults subject-mismatch gpucert verify "$work/mine" --key "$public" --subject "$key"
expect_exit 3 gpucert verify "$work/mine" --key "$public" --subject "$work/nothing"

# Expectations that the run used, and the day by which somebody is to look at them again.
known() { # FOLDER [REVIEW-BY]
	make_report "$1" "of('plan')[0].checks.find((c) => c.id === 'registration.options').expected = {outcome: 'fail', entry: 'known#1', ${2:+reviewBy: '$2'}};
		Object.assign(end('registration.options'), {outcome: 'fail', reason: 'it is wrong'})"
}
known "$work/known" "$(($(date +%Y) + 1))-01-01"
expect_exit 0 gpucert attest "$work/known" --key "$key"
expect_exit 0 gpucert verify "$work/known" --key "$public"
known "$work/undated"
expect_exit 0 gpucert attest "$work/undated" --key "$key"
expect_exit 0 gpucert verify "$work/undated" --key "$public"
known "$work/expired" 2026-01-01
expect_exit 1 gpucert attest "$work/expired" --key "$key"
expect_says "expired-expectation: known#1 (registration.options) was to be reviewed by 2026-01-01"
[ ! -e "$work/expired/attestation.json" ] || complain "a report that does not verify was attested"
named=$(for file in report.json journal.ndjson junit.xml report.md report.html; do
	echo "s.predicate.configuration.find((d) => d.name === '$file').digest.sha256 = '$(sha256sum "$work/expired/$file" | cut -d ' ' -f 1)';"
done)
sign resign "$key" "$work/known/attestation.json" "$named" >"$work/expired/attestation.json"
expect_faults expired-expectation gpucert verify "$work/expired" --key "$public"

# Key files that are not to be used.
chmod 640 "$key"
expect_exit 3 gpucert attest "$run" --key "$key"
expect_says "chmod 600"
expect_exit 3 gpucert key show "$key"
chmod 600 "$key"
expect_exit 2 gpucert verify "$run" --key "$key"
expect_says "this is a private key"
expect_exit 2 gpucert attest "$run" --key "$public"
expect_says "this is a public key"
(umask 077 && openssl pkey -in "$key" -aes256 -passout pass:secret -out "$work/encrypted.key")
expect_exit 3 gpucert attest "$run" --key "$work/encrypted.key"
expect_says "passphrases are not read"
(umask 077 && openssl genpkey -algorithm ed448 -out "$work/ed448.key" && openssl genpkey -algorithm EC -pkeyopt ec_paramgen_curve:P-256 -out "$work/ec.key")
for other in ed448 ec; do
	expect_exit 3 gpucert attest "$run" --key "$work/$other.key"
	expect_says "not a private key of Ed25519 in PKCS #8"
done
expect_exit 3 gpucert verify "$run" --key "$run/report.json"
expect_exit 3 gpucert verify "$run" --key "$work/nothing"
expect_exit 3 gpucert verify "$work/nothing" --key "$public"
expect_exit 2 gpucert verify "$run"
expect_exit 2 gpucert verify --key "$public"
expect_exit 2 gpucert attest "$run"
expect_exit 2 gpucert attest --key "$key"
expect_exit 3 gpucert attest "$run" --key "$key" --out "$work/nowhere/attestation.json"

# The run of this machine.
expect_exit 0 gpucert run --launcher process --out "$work/live" environment.devices registration.arrives
expect_exit 0 gpucert attest "$work/live" --key "$key"
expect_exit 0 gpucert verify "$work/live" --key "$public" --subject "$bin/device-plugin-gpu"
node "$validate" "$source/reports/schema/verification.schema.json" "$work/good.json" "$work/bad.json" ||
	complain "what verify --json prints is not what its schema says"
