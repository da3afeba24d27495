#!/bin/sh
# SPDX-License-Identifier: MIT
# What `gpucert image build` writes is what other tools take: skopeo reads and copies it, and both images of an archive are found
# by their names.
. "$(dirname "$0")/lib.sh"

command -v skopeo >/dev/null || skip "no skopeo"
name=registry.example/gpucert-probes:1

# field FILE POINTER: one value of a JSON file.
field() {
	node -e 'let v = JSON.parse(require("fs").readFileSync(process.argv[1]));
		for (const k of process.argv[2].split("/").slice(1)) v = v?.[k.replaceAll("~1", "/")];
		console.log(typeof v === "object" ? JSON.stringify(v) : v)' "$1" "$2"
}

expect_exit 0 gpucert image build --out "$work/all.tar"
read -r all_name all_digest <"$work/out"
expect_exit 0 gpucert image build --out "$work/again.tar"
cmp "$work/all.tar" "$work/again.tar" || complain "the same files gave other bytes"
[ "$all_name" = "docker.io/gpucert/probe:$(echo "$all_digest" | cut -c 8-19)" ] || complain "it is called $all_name"

expect_exit 0 gpucert image check "oci-archive:$work/all.tar" # on the machine that it is composed from
expect_exit 0 skopeo --insecure-policy inspect "oci-archive:$work/all.tar"
[ "$(field "$work/out" /Digest)" = "$all_digest" ] || complain "skopeo sees another digest than $all_digest"
[ "$(field "$work/out" /Os)" = linux ] || complain "not for linux"
field "$work/out" "/Labels/gpucert.internal~1families" | grep -q '^compute,graphics,video' || complain "the families are not told"

expect_exit 0 gpucert image build graphics --name "$name" --pause --out "$work/two.tar"
grep -q "^$name sha256:" "$work/out" || complain "its name is not told"
for image in "$name" docker.io/gpucert/pause:1; do
	digest=$(sed -n "s|^$image ||p" "$work/out")
	skopeo --insecure-policy inspect "oci-archive:$work/two.tar:$image" >"$work/inspected" || complain "skopeo does not find $image"
	[ "$(field "$work/inspected" /Digest)" = "$digest" ] || complain "$image: skopeo sees another digest than $digest"
done
expect_exit 0 skopeo --insecure-policy copy "oci-archive:$work/two.tar:$name" "dir:$work/copied"
shared=0
mkdir "$work/root"
for layer in $(field "$work/copied/manifest.json" /layers | grep -oE '[0-9a-f]{64}'); do
	[ "$(sha256sum <"$work/copied/$layer")" = "$layer  -" ] || complain "layer $layer was copied wrongly"
	tar tf "$work/all.tar" "blobs/sha256/$layer" >/dev/null 2>&1 && shared=$((shared + 1))
	tar xf "$work/copied/$layer" -C "$work/root"
done
[ "$shared" -eq 2 ] || complain "$shared layers are those of the whole image, not 2"
[ -x "$work/root/libexec/gpucert/probe-vulkan" ] || complain "probe-vulkan is not in the family graphics"
[ ! -e "$work/root/libexec/gpucert/probe-opencl" ] || complain "probe-opencl is in the family graphics"

expect_exit 2 gpucert image build --out "$work/x.tar" graphic
expect_says "is not one of compute, graphics, video, directx"
expect_exit 2 gpucert image build
expect_says "--out"
expect_exit 2 gpucert image build --out "$work/x.tar" --name probes:1
expect_says "REGISTRY/NAME:TAG"
expect_exit 3 gpucert image build --out "$work/nowhere/x.tar"
expect_says "nowhere/x.tar"
expect_exit 2 gpucert image
expect_says "a command is needed"
expect_exit 0 gpucert image --help
expect_says "image build"
[ ! -e "$work/x.tar" ] || complain "a failed build left an archive"
