#!/bin/sh
# SPDX-License-Identifier: MIT
# Images of real registries: `gpucert image inspect` and `image check` with TLS and without, with the cache and without, and when
# something breaks on the way (containers/registry/doubles).
. "$(dirname "$0")/lib.sh"

source=$2
for program in docker-registry node openssl skopeo; do
	command -v $program >"$work/program" || skip "$program is not installed"
done

rig=
stop_rig() {
	[ -z "$rig" ] || kill "$rig"
	rig=
}
trap 'code=$?; stop_rig; [ $code -eq 0 ] || failures=1; finish' EXIT

cd "$work"
mkdir rig top layout
mkfifo ports.fifo
node "$source/containers/registry/doubles/registry_rig.mjs" rig >ports.fifo &
rig=$!
read -r ports <ports.fifo || {
	echo "FAILED: the rig does not start" >&2
	exit 1
}
port() {
	printf '%s' "$ports" | grep -oE "\"$1\":[0-9]+" | cut -d : -f 2
}

# An image with one layer that has a driver's library, pushed by another program.
mkdir -p top/usr/lib/x86_64-linux-gnu
printf 'not an ELF file' >top/usr/lib/x86_64-linux-gnu/libcuda.so.550.54.15
tar -c -f layer.tar -C top usr
node - layout layer.tar <<'END' || complain "the image could not be made"
const { createHash } = require("crypto"), fs = require("fs");
const [, , layout, layer] = process.argv;
fs.mkdirSync(`${layout}/blobs/sha256`, { recursive: true });
const put = (mediaType, bytes) => {
	const hex = createHash("sha256").update(bytes).digest("hex");
	fs.writeFileSync(`${layout}/blobs/sha256/${hex}`, bytes);
	return { mediaType, digest: `sha256:${hex}`, size: bytes.length };
};
const type = (name) => `application/vnd.oci.image.${name}`;
const bytes = fs.readFileSync(layer);
const layers = [put(type("layer.v1.tar"), bytes)];
const config = put(type("config.v1+json"), Buffer.from(JSON.stringify({ os: "linux", architecture: "amd64",
	config: { Env: ["CUDA_VERSION=12.4.1"] }, rootfs: { type: "layers", diff_ids: [layers[0].digest] } })));
const manifest = put(type("manifest.v1+json"), Buffer.from(JSON.stringify({ schemaVersion: 2,
	mediaType: type("manifest.v1+json"), config, layers })));
fs.writeFileSync(`${layout}/oci-layout`, '{"imageLayoutVersion": "1.0.0"}');
fs.writeFileSync(`${layout}/index.json`, JSON.stringify({ schemaVersion: 2, manifests: [manifest] }));
END
plain=127.0.0.1:$(port plain)
proxy=127.0.0.1:$(port proxy)
tls=localhost:$(port proxyTls)
expect_exit 0 skopeo copy --dest-tls-verify=false oci:layout "docker://$plain/tool:1"

XDG_CACHE_HOME=$work/cache DOCKER_CONFIG=$work
export XDG_CACHE_HOME DOCKER_CONFIG
expect_exit 0 gpucert image inspect --no-cache --plain-http "docker://$plain/tool:1"
expect_says "libcuda.so.550.54.15"
expect_says "CUDA_VERSION"
[ ! -e cache ] || complain "--no-cache leaves a cache"
expect_exit 0 gpucert image inspect "docker://$plain/tool:1" # this machine's own registries need no --plain-http
[ "$(find cache -type f | wc -l)" -eq 3 ] || complain "the cache has not manifest, configuration and layer: $(find cache)"
expect_exit 0 gpucert image cache
expect_says "$work/cache/gpucert: 3 blobs, "
expect_exit 0 gpucert image cache --prune
expect_says "3 blobs, 0.0 MiB; 0 removed, 0.0 MiB"
expect_exit 0 gpucert image cache --prune --keep 0
expect_says "0 blobs, 0.0 MiB; 3 removed"
[ "$(find cache -type f | wc -l)" -eq 0 ] || complain "image cache --prune --keep 0 leaves something: $(find cache)"
expect_exit 0 gpucert image inspect "docker://$plain/tool:1"
expect_exit 2 gpucert image cache --keep -1
expect_exit 3 env -u XDG_CACHE_HOME -u HOME "$bin/gpucert" image cache
expect_says XDG_CACHE_HOME
expect_exit 3 gpucert image inspect --no-cache "docker://$tls/tool:1"
expect_says "--ca-certificate"
expect_exit 0 gpucert image inspect --no-cache --ca-certificate rig/ca.crt "docker://$tls/tool:1"
expect_says "libcuda.so.550.54.15"
expect_exit 3 gpucert image inspect --ca-certificate nowhere.crt "docker://$tls/tool:1"
expect_says "nowhere.crt"
gpucert image check --no-cache --ca-certificate rig/ca.crt --host "$source/discovery/nodes/windows-4x-tesla-t4.json" \
	"docker://$tls/tool:1" >out 2>err && complain "a Linux image works on a Windows host"
expect_says "platform.os"

expect_exit 0 gpucert image inspect --no-cache --plain-http "docker://$proxy/cut/tool:1"
expect_says "libcuda.so.550.54.15"
expect_exit 3 gpucert image inspect --no-cache --plain-http "docker://$proxy/digest/tool:1"
expect_says "Docker-Content-Digest"
expect_exit 3 gpucert image check --no-cache --plain-http "docker://$proxy/loop/tool:1"
expect_says "redirects"
expect_exit 3 gpucert image inspect --plain-http "docker://$plain/tool:2"
expect_says "MANIFEST_UNKNOWN"

# Compatibility artifacts of Node Feature Discovery: what selects an image besides itself. attach NAME REFERENCE CREATED attaches the
# standard input to what the reference stands for, and keeps it under the tag of its referrers, as clients do for registries that
# do not.
cat >attach.mjs <<'END'
import {createHash} from 'node:crypto';
import fs from 'node:fs';
const [, , place, reference, created] = process.argv;
const oci = (name) => `application/vnd.oci.${name}+json`;
const sum = (bytes) => `sha256:${createHash('sha256').update(bytes).digest('hex')}`;
async function ask(url, init) {
	const answer = await fetch(url, init);
	if (!answer.ok && answer.status !== 404)
		throw new Error(`${url}: ${answer.status} ${await answer.text()}`);
	return answer;
}
async function blob(mediaType, bytes) {
	const {headers} = await ask(`${place}/blobs/uploads/`, {method: 'POST'});
	const url = new URL(headers.get('location'), place);
	url.searchParams.set('digest', sum(bytes));
	await ask(url, {method: 'PUT', body: bytes, headers: {'content-type': 'application/octet-stream'}});
	return {mediaType, digest: sum(bytes), size: bytes.length};
}
async function manifest(reference, document) {
	const bytes = JSON.stringify(document);
	await ask(`${place}/manifests/${reference ?? sum(bytes)}`, {method: 'PUT', body: bytes, headers: {'content-type': document.mediaType}});
	return {mediaType: document.mediaType, digest: sum(bytes), size: Buffer.byteLength(bytes)};
}
const get = (reference) => ask(`${place}/manifests/${reference}`, {headers: {accept: `${oci('image.manifest.v1')}, ${oci('image.index.v1')}`}});
const answer = await get(reference);
const subject = {mediaType: answer.headers.get('content-type'), digest: answer.headers.get('docker-content-digest'),
	size: (await answer.arrayBuffer()).byteLength};
if (created === 'index') { // an index of the image alone, under a tag of its own
	await manifest('index', {schemaVersion: 2, mediaType: oci('image.index.v1'),
		manifests: [{...subject, platform: {os: 'linux', architecture: 'amd64'}}]});
	process.exit(0);
}
const artifactType = 'application/vnd.nfd.image-compatibility.v1alpha1';
const annotations = {'org.opencontainers.image.created': created};
const artifact = await manifest(null, {schemaVersion: 2, mediaType: oci('image.manifest.v1'), artifactType,
	config: await blob(oci('empty.v1'), Buffer.from('{}')),
	layers: [await blob('application/vnd.nfd.image-compatibility.spec.v1alpha1+yaml', fs.readFileSync(0))], subject, annotations});
const tag = subject.digest.replace(':', '-');
const kept = await get(tag);
await manifest(tag, {schemaVersion: 2, mediaType: oci('image.index.v1'),
	manifests: [...(kept.ok ? (await kept.json()).manifests : []), {...artifact, artifactType, annotations}]});
END
attach() {
	node attach.mjs "http://$plain/v2/$1" "$2" "$3" || complain "$1: nothing is attached"
}
# kernel MAJOR: an artifact that wants it.
kernel() {
	printf 'version: v1alpha1\ncompatibilities:\n- rules:\n  - name: "kernel %s"\n    matchFeatures:\n    - feature: kernel.version\n      matchExpressions:\n        major: {op: In, value: ["%s"]}\n' "$1" "$1"
}
choose() {
	expect_exit "$1" gpucert image select --plain-http --host "$source/containers/judging/compat/tests/hosts/linux-h200.json" "docker://$2"
}
choose 0 "$plain/tool:1"
attach tool 1 index </dev/null
kernel 5 | attach tool index 2026-05-01T00:00:00Z
choose 0 "$plain/tool:1" # what refers to an index is not about its images where they are named alone
choose 1 "$plain/tool:index"
expect_says "the rule 'kernel 5' wants kernel.version major"
kernel 6 | attach tool 1 2026-10-02T00:00:00Z
choose 0 "$plain/tool:index" # an image's own goes before that of its index
kernel 4 | attach tool 1 2026-10-01T00:00:00Z # the older one, although it came last
choose 0 "$plain/tool:1"
choose 0 "$proxy/referrers/tool:1"
kernel 7 | attach tool 1 2026-10-03T00:00:00Z
for place in "$plain" "$proxy/referrers"; do
	choose 1 "$place/tool:1"
	expect_says "nfd.compatibility: the rule 'kernel 7' wants kernel.version major"
	expect_says "and the host has 6"
done
choose 5 "$proxy/referrers-denied/tool:1"
expect_says "its compatibility artifact cannot be read"
printf 'version: v1alpha1\ncompatibilities: [{rules: [{}]}]' | attach tool 1 2026-10-04T00:00:00Z
choose 5 "$plain/tool:1"
expect_says "not a compatibility artifact: compatibilities[0].rules[0].name: missing"
head -c 70000 /dev/zero | tr '\0' '#' | attach tool 1 2026-10-05T00:00:00Z
choose 5 "$plain/tool:1"
expect_says "more than 65536 bytes"
