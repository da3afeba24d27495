#!/bin/sh
# SPDX-License-Identifier: MIT
# The folder that certifies a product: built only when the run and its claims allow it, and checked to the last file.
# usage: test_certify.sh BIN SOURCE VALIDATE.mjs
. "$(dirname "$0")/lib.sh"
source=$2
validate=$3
. "$(dirname "$0")/attest_lib.sh"
key=$work/vendor.key
public=$key.pub
certificate=$work/certificate
next_year=$(($(date +%Y) + 1))-01-01

cat >"$work/product.yaml" <<'END'
vendor: Yoyodyne
name: Turbo Encabulator
version: 1.10
website_url: https://yoyo.dyne/turbo-encabulator
repo_url: https://github.com/yoyo.dyne/turbo-encabulator
documentation_url: https://yoyo.dyne/turbo-encabulator/docs
product_logo_url: https://yoyo.dyne/assets/turbo-encabulator.svg
type: device plugin
description: 'Gives GPUs to containers.'
contact_email_address: certification@yoyo.dyne
END
gpucert key generate "$key" >/dev/null
gpucert key generate "$work/other.key" >/dev/null

build() { # RUN [OPTION...]: into a new folder
	rm -rf "$certificate"
	run=$1
	shift
	gpucert certify build "$run" --product "$work/product.yaml" --key "$key" --out "$certificate" "$@"
}
refused() { # TEXT RUN [OPTION...]: nothing is written
	text=$1
	shift
	expect_exit 1 build "$@"
	expect_says "$text"
	[ ! -e "$certificate" ] || complain "a folder was made all the same: $text"
}

# Everything was tested.
make_report "$work/run"
expect_exit 0 build "$work/run"
expect_says "certified"
find "$certificate" -type f ! -name report.md | sed "s,$certificate/,," | LC_ALL=C sort | tr '\n' ' ' >"$work/files"
[ "$(cat "$work/files")" = "README.md attestation.json evidence/api.vulkan/01-allocate.json evidence/api.vulkan/02-probe.json \
journal.ndjson junit.xml product.yaml report.html report.json " ] || complain "the files are $(cat "$work/files")"
cmp -s "$work/product.yaml" "$certificate/product.yaml" || complain "product.yaml is another"
cmp -s "$golden/complete/junit.xml" "$certificate/junit.xml" || complain "junit.xml is another"
expect_says "devices: "
grep -q "Turbo Encabulator" "$certificate/README.md" || complain "README.md does not name the product"
for line in devices drivers system plugin runtime; do
	grep -q "^    $line: ." "$certificate/README.md" || complain "README.md does not name the $line"
done
expect_exit 0 gpucert certify check "$certificate" --key "$public"
expect_says "certified: Turbo Encabulator 1.10 by Yoyodyne"
expect_says "result PASSED, signed with"
expect_says "drivers: "
expect_exit 0 gpucert certify check "$certificate" --key "$public" --json
cp "$work/out" "$work/good.json"
expect_exit 0 gpucert verify "$certificate" --key "$public"
expect_exit 3 gpucert certify build "$work/run" --product "$work/product.yaml" --key "$key" --out "$certificate"
expect_says "holds something already"
expect_exit 0 gpucert certify check "$certificate" --key "$public"
mkdir "$work/empty"
expect_exit 0 gpucert certify build "$work/run" --product "$work/product.yaml" --key "$key" --out "$work/empty"

# What is wrong with a published folder.
spoiled() { # KINDS COMMAND...: the command spoils a copy, in which it runs
	kinds=$1
	shift
	rm -rf "$work/spoiled"
	cp -R "$certificate" "$work/spoiled"
	(cd "$work/spoiled" && "$@")
	expect_faults "$kinds" gpucert certify check "$work/spoiled" --key "$public"
}
for file in README.md junit.xml product.yaml report.json journal.ndjson attestation.json; do
	spoiled missing-file rm "$file"
	expect_says "$file is missing"
done
spoiled missing-evidence rm evidence/api.vulkan/01-allocate.json
spoiled changed-file sed -i 's/Yoyodyne/Another/' product.yaml
spoiled "changed-file product" sed -i '/^vendor/d' product.yaml
spoiled changed-file sed -i 's/Turbo/Turbot/' README.md
spoiled tampered-report sed -i 's/"exitCode": 0/"exitCode": 1/' report.json
spoiled unnamed-file touch notes.txt
spoiled unnamed-file touch evidence/api.vulkan/03-more.json
spoiled unnamed-file mkfifo pipe
spoiled unnamed-file sh -c 'i=0; while [ $i -lt 250 ]; do touch "$i"; i=$((i + 1)); done'
expect_says "this and more faults that are not listed"
[ "$(grep -c '"kind"' "$work/out")" -eq 200 ] || complain "the list of faults has no end"
spoiled symbolic-link ln -s /etc/passwd notes.txt
spoiled symbolic-link ln -s evidence more
spoiled symbolic-link ln -sf product.yaml junit.xml
spoiled symbolic-link ln -sf nowhere junit.xml
spoiled "unattested-file claims" sh -c 'echo {} >claims.json'
expect_faults wrong-key gpucert certify check "$certificate" --key "$work/other.key.pub"
expect_exit 1 gpucert certify check "$work/spoiled" --key "$public" --json
cp "$work/out" "$work/bad.json"
gpucert attest "$work/run" --key "$key" >/dev/null
expect_faults "missing-file" gpucert certify check "$work/run" --key "$public"
expect_says "product.yaml is missing"
node "$validate" "$source/reports/schema/verification.schema.json" "$work/good.json" "$work/bad.json" ||
	complain "what certify check --json prints is not what its schema says"

# product.yaml
product() { # TEXT SED-EXPRESSION
	cp "$work/product.yaml" "$work/kept.yaml"
	sed -i "$2" "$work/product.yaml"
	refused "product: product.yaml: $1" "$work/run"
	mv "$work/kept.yaml" "$work/product.yaml"
}
for member in vendor name version website_url documentation_url type description contact_email_address; do
	product "$member" "/^$member:/d"
done
product "website_url: 'javascript:alert(1)' is not a URL" 's,https://yoyo.dyne/turbo-encabulator$,javascript:alert(1),'
product "product_logo_url: the logo is a vector graphic" 's/[.]svg/.png/'
product "type: 'toaster' is not" 's/device plugin/toaster/'
product "contact_email_address: 'nobody'" 's/certification@yoyo.dyne/nobody/'
product "vendor: appears twice" '1i vendor: Another'
product "colour: unknown member" '$a colour: blue'
product "vendor: is empty" 's/^vendor.*/vendor: ""/'
product "vendor: holds a control character" 's/^vendor.*/vendor: "a\\nb"/'
product "vendor: expected string" 's/^vendor.*/vendor: [a]/'
product "line " 's/^vendor.*/vendor: "/'
cp "$work/product.yaml" "$work/kept.yaml"
printf 'vendor: Yoyodyne\nname: "# [x](javascript:1) <b>"\n' >"$work/product.yaml"
sed '1,2d' "$work/kept.yaml" >>"$work/product.yaml"
expect_exit 0 build "$work/run"
grep -qxF '    # [x](javascript:1) <b>' "$certificate/README.md" || complain "README.md takes a name for Markdown"
mv "$work/kept.yaml" "$work/product.yaml"

# What was not tested must be claimed, one by one or by requirement.
open='Object.assign(end("api.opencl"), {outcome: "unsupported", reason: "no device of that kind"})'
make_report "$work/open" "$open"
claims() { # CLAIM...: "check api.opencl", with the day of review as third word
	for claim in "$@"; do
		# shellcheck disable=SC2086
		set -- $claim
		printf ', {"%s": "%s", "justification": "This product has none.", "link": "https://yoyo.dyne/1", "reviewBy": "%s"}' \
			"$1" "$2" "${3:-$next_year}"
	done | sed 's/^, /{"schema": "gpucert-claims\/1", "claims": [/; s/$/]}/' >"$work/claims.json"
}
refused "not-certified: api.opencl (API-01) is unsupported and not claimed: no device of that kind" "$work/open"
claims "check api.opencl"
expect_exit 0 build "$work/open" --claims "$work/claims.json"
cmp -s "$work/claims.json" "$certificate/claims.json" || complain "the claims are others"
expect_exit 0 gpucert certify check "$certificate" --key "$public"
expect_says "result WARNED"
spoiled "missing-file not-certified" rm claims.json
spoiled changed-file sed -i 's/has none/has some/' claims.json
claims "requirement API-01"
expect_exit 0 build "$work/open" --claims "$work/claims.json"
expect_exit 0 gpucert certify check "$certificate" --key "$public"
cp "$work/claims.json" "$work/open/claims.json"
expect_exit 0 build "$work/open"
node "$validate" "$source/reports/schema/claims.schema.json" "$work/claims.json" || complain "the claims are not what their schema says"

claimed() { # TEXT RUN CLAIM...
	text=$1
	claimed_run=$2
	shift 2
	claims "$@"
	refused "$text" "$claimed_run" --claims "$work/claims.json"
}
rm "$work/open/claims.json"
claimed "api.opencl (API-01) is unsupported and not claimed" "$work/open" "check api.openCL"
claimed "claims[0] (api.openCL): there is none of that name in the run" "$work/open" "check api.openCL" "check api.opencl"
claimed "claims[1] (api.vulkan): it was tested: remove the claim" "$work/open" "check api.opencl" "check api.vulkan"
claimed "claims[1] (REG-01): it was tested: remove the claim" "$work/open" "check api.opencl" "requirement REG-01"
claimed "claims[1] (NO-01): there is none of that name in the run" "$work/open" "check api.opencl" "requirement NO-01"
claimed "claims[0] (api.opencl) was to be reviewed by 2026-01-01" "$work/open" "check api.opencl 2026-01-01"
claimed "claims: claims.json: claims[0].reviewBy: '2026-13-01' is not a day" "$work/open" "check api.opencl 2026-13-01"
claimed "claims[1]: the same as claims[0]" "$work/open" "check api.opencl" "check api.opencl"
claimed "claims[0].check: environment.devices cannot be claimed: all other checks depend on it" "$work/open" "check environment.devices"
claimed "claims[0].check: registration.arrives cannot be claimed" "$work/open" "check registration.arrives"
printf '{"schema": "gpucert-claims/1", "claims": [], "claims": []}' >"$work/claims.json"
refused "claims: claims.json: claims: appears twice" "$work/open" --claims "$work/claims.json"
printf '{"schema": "gpucert-claims/1", "claims": [{"justification": "a", "link": "b", "reviewBy": "%s"}]}' "$next_year" >"$work/claims.json"
refused "claims[0]: name either a check or a requirement" "$work/open" --claims "$work/claims.json"
make_report "$work/failed" 'Object.assign(end("api.opencl"), {outcome: "fail", reason: "it is wrong"})'
refused "API-01 is violated, and a failure is never claimed away: api.opencl (fail): it is wrong" "$work/failed"
claimed "claims[0] (api.opencl): a failure is never claimed away" "$work/failed" "check api.opencl"
claimed "claims[0] (API-01): a failure is never claimed away" "$work/failed" "requirement API-01"
make_report "$work/broken" 'Object.assign(end("api.opencl"), {outcome: "broken", reason: "the harness could not tell"})'
claimed "api.opencl (API-01) is broken, which cannot be claimed: the harness could not tell" "$work/broken" "requirement API-01"
make_report "$work/unproven" 'of("plan")[0].checks.find((c) => c.id === "api.opencl").unproven = "it ran on the host"'
claimed "api.opencl (API-01) passed where a pass proves nothing: it ran on the host" "$work/unproven" "requirement API-01"
make_report "$work/left-out" 'of("plan")[0].requirements[0].leftOut = ["registration.again", "registration.order"]'
claimed "registration.order (REG-01) was left out and is not claimed" "$work/left-out" "check registration.again"
claims "check registration.again" "check registration.order"
expect_exit 0 build "$work/left-out" --claims "$work/claims.json"
make_report "$work/sentinel" 'of("plan")[0].requirements[0].leftOut = ["registration.arrives"]'
claimed "registration.arrives (REG-01) was left out and is not claimed" "$work/sentinel" "requirement REG-01"
make_report "$work/recorded" 'for (const r of of("environment")) if (r.environment.node) r.environment.node = {kind: "recorded"}'
refused "it ran on a recorded node" "$work/recorded"
make_report "$work/ended" 'records.pop()'
refused "the run is not complete" "$work/ended"
make_report "$work/tomorrow" 'records.at(-1).time = "2099-01-01T00:00:00.000Z"'
refused "the run ended on 2099-01-01, and today is $(date -u +%Y)-" "$work/tomorrow"
make_report "$work/nothing" "$open"'; for (const c of of("plan")[0].checks) if (end(c.id)) Object.assign(end(c.id), {outcome: "unsupported", reason: "nothing"})'
claimed "no MUST requirement is satisfied" "$work/nothing" "requirement API-01" "requirement REG-01" "requirement ISO-01" "requirement ISO-02"
# A requirement that no check tests is claimed by its own name alone.
make_report "$work/unasked" 'for (const id of ["NEW-01", "NEW-02"]) of("plan")[0].requirements.push({id, level: "must", sentence: "It is new.", source: "here"})'
claimed "not-certified: NEW-02: no check tests it, and it is not claimed" "$work/unasked" "requirement NEW-01"
claims "requirement NEW-01" "requirement NEW-02"
expect_exit 0 build "$work/unasked" --claims "$work/claims.json"
# A SHOULD that is violated keeps no product from being certified.
make_report "$work/should" 'Object.assign(end("registration.options"), {outcome: "fail", reason: "it is wrong"})'
expect_exit 0 build "$work/should"

# Hostile evidence.
for path in ../outside evidence/../../outside /tmp/outside product.yaml report.json 'evidence/a/../../attestation.json'; do
	rm -rf "$work/hostile"
	make_report "$work/hostile" "of('evidence')[0].path = '$path'"
	expect_exit 1 build "$work/hostile"
	expect_says "evidence: "
	[ ! -e "$certificate" ] || complain "evidence at $path was taken"
done
expect_exit 2 gpucert certify build "$work/run" --key "$key" --out "$certificate"
expect_exit 2 gpucert certify build "$work/run" --product "$work/product.yaml" --key "$key"
expect_exit 2 gpucert certify build "$work/run" --product "$work/product.yaml" --out "$certificate"
expect_exit 3 gpucert certify build "$work/run" --product "$work/none.yaml" --key "$key" --out "$certificate"
expect_exit 3 gpucert certify check "$work/none" --key "$public"
expect_exit 2 gpucert certify check "$certificate"
