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
