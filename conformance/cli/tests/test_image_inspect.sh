#!/bin/sh
# SPDX-License-Identifier: MIT
# `gpucert image inspect` of the image that this build composes, whole and damaged.
. "$(dirname "$0")/lib.sh"

source=$2
validate=$3

cd "$work"
expect_exit 0 gpucert image build --name registry.example/probes:1 --out probes.tar
expect_exit 0 gpucert image inspect oci-archive:probes.tar
expect_says "C library    glibc $(getconf GNU_LIBC_VERSION | cut -d ' ' -f 2)"
expect_says "/libOpenCL.so.1 (layer "
! grep -q Missing out || complain "something is missing in the probes' image: $(cat out)"
expect_exit 0 gpucert image inspect --json oci-archive:probes.tar
node "$validate" "$source/containers/judging/contents/schema/image-contents.schema.json" out >&2 || complain "not valid JSON"
cp out archive.json

mkdir layout
tar -x -f probes.tar -C layout
expect_exit 0 gpucert image inspect --json oci:layout
grep -v "\"image\"" archive.json >one
grep -v "\"image\"" out >two
diff one two >&2 || complain "archive and folder differ"

# Without its C library each program lacks something; the layers are packed again, compressed.
mkdir files blobs
node - layout <<'END' || complain "the image could not be changed"
const { createHash } = require("crypto"), fs = require("fs"), { execFileSync } = require("child_process"), zlib = require("zlib");
const at = (digest) => `${process.argv[2]}/blobs/${digest.replace(":", "/")}`;
const put = (bytes) => {
	const digest = "sha256:" + createHash("sha256").update(bytes).digest("hex");
	fs.writeFileSync(at(digest), bytes);
	return { digest, size: bytes.length };
};
const index = JSON.parse(fs.readFileSync(`${process.argv[2]}/index.json`));
const manifest = JSON.parse(fs.readFileSync(at(index.manifests[0].digest)));
fs.writeFileSync("whiteout.tar", "");
fs.mkdirSync("top/usr/lib/x86_64-linux-gnu", { recursive: true });
fs.writeFileSync("top/usr/lib/x86_64-linux-gnu/.wh.libc.so.6", "");
execFileSync("tar", ["-c", "-f", "whiteout.tar", "-C", "top", "."]);
manifest.layers = manifest.layers.map((l) => ({ mediaType: l.mediaType + "+gzip", ...put(zlib.gzipSync(fs.readFileSync(at(l.digest)))), old: fs.unlinkSync(at(l.digest)) }));
manifest.layers.push({ mediaType: "application/vnd.oci.image.layer.v1.tar", ...put(fs.readFileSync("whiteout.tar")) });
Object.assign(index.manifests[0], put(Buffer.from(JSON.stringify(manifest))));
fs.writeFileSync(`${process.argv[2]}/index.json`, JSON.stringify(index));
END
expect_exit 0 gpucert image inspect oci:layout
expect_says "needs libc.so.6: no file of the image has this name"
expect_says "C library    -"
expect_exit 0 gpucert image check --no-layers oci:layout
! grep -q 'libc.so.6' out || complain "layers are read all the same"
expect_exit 1 gpucert image check oci:layout
expect_says "libc.so.6"

# Damage: the blob of the largest layer, cut, and with another byte.
largest=$(find layout/blobs/sha256 -type f -printf '%s %f\n' | sort -rn | sed -n '1s/.* //p')
cp "layout/blobs/sha256/$largest" kept
head -c 100000 kept >"layout/blobs/sha256/$largest"
expect_exit 3 gpucert image inspect oci:layout
expect_says "$largest"
cp kept "layout/blobs/sha256/$largest"
printf 'X' | dd of="layout/blobs/sha256/$largest" bs=1 seek=5000 conv=notrunc 2>/dev/null
expect_exit 3 gpucert image inspect oci:layout
expect_says "layer "

expect_exit 2 gpucert image inspect
expect_exit 2 gpucert image inspect --platform linux oci:layout
expect_exit 3 gpucert image inspect "oci:$work/nowhere"
