#!/bin/sh
# SPDX-License-Identifier: MIT
# `gpucert image select` and `image labels` as their users see them: rankings of a file, an index and a repository (golden outputs,
# which GPUCERT_UPDATE_GOLDEN writes anew), exit codes, and what is refused.
. "$(dirname "$0")/lib.sh"
. "$(dirname "$0")/layout.sh"

source=$2
validate=$3
hosts=$source/containers/judging/compat/tests/hosts
nodes=$source/discovery/nodes
golden=$source/conformance/cli/tests/golden
solver=$source/containers/judging/selection/tests/catalogues/solver.json

# compare_golden NAME: the last output.
compare_golden() {
	[ -z "${GPUCERT_UPDATE_GOLDEN:-}" ] || cp "$work/out" "$golden/$1.txt"
	diff -u "$golden/$1.txt" "$work/out" >&2 || complain "$1: it says something else"
	[ ! -s "$work/err" ] || complain "$1: it complains"
}

# expect_golden CODE NAME ARGUMENT...: exit code and output; NAME.json is the same with --json.
expect_golden() {
	code=$1
	name=$2
	shift 2
	expect_exit "$code" gpucert image select "$@"
	compare_golden "$name"
	expect_exit "$code" gpucert image select --json "$@"
	cp "$work/out" "$work/$name.json"
}

# variant LAYOUT VARIANT VARIABLE: one of its index for linux/amd64.
variant() {
	entry "$1" '{"os":"linux","architecture":"amd64","config":{"Env":["'"$3"'"],"Labels":{"org.opencontainers.image.created":"2026-10-01T00:00:00Z"}},"rootfs":{"type":"layers","diff_ids":[]}}' \
		'{"os":"linux","architecture":"amd64","variant":"'"$2"'"}'
}

# nest LAYOUT: its index becomes the one image that it has, as registries keep one.
nest() {
	index=$(sed 's/"schemaVersion":2,/&"mediaType":"application\/vnd.oci.image.index.v1+json",/' "$1/index.json")
	printf '{"schemaVersion":2,"manifests":[{"mediaType":"application/vnd.oci.image.index.v1+json","digest":"%s","size":%s}]}' \
		"$(blob "$1" "$index")" "${#index}" >"$1/index.json"
}

# field FILE POINTER
field() {
	node -p 'process.argv[2].split("/").slice(1).reduce((at, key) => at[key.replaceAll("~1", "/")], JSON.parse(fs.readFileSync(process.argv[1])))' "$1" "$2"
}

cd "$work"
expect_golden 0 select-h200 --host "$hosts/linux-h200.json" "$solver"
[ "$(field "$work/select-h200.json" /selected)" = registry.example/solver:cuda12.4 ] || complain "another image is selected"
expect_golden 0 select-server-2022 --host "$hosts/windows-server-2022.json" "$solver"
expect_golden 5 select-windows-11 --host "$hosts/windows-11-25h2.json" "$solver"
expect_golden 5 select-windows-11-containerd --host "$hosts/windows-11-25h2.json" --runtime containerd-2.x "$solver"
[ "$(field "$work/select-windows-11.json" /selected)" = null ] || complain "an unknown image is selected"
# A recorded node does not know its processor's level, nor the driver's CUDA.
expect_golden 0 select-node --host "$nodes/linux-2x-tesla-t4.json" "$solver"

variant layout-index v1 CUDA_VERSION=12.2.2
variant layout-index v3 CUDA_VERSION=12.4.1
variant layout-index v2 CUDA_VERSION=12.9.1
entry layout-index '{"os":"linux","architecture":"arm64","config":{},"rootfs":{"type":"layers","diff_ids":[]}}' '{"os":"linux","architecture":"arm64"}'
expect_golden 0 select-index --host "$hosts/linux-h200.json" oci:layout-index
node "$validate" "$source/containers/judging/selection/schema/image-select.schema.json" ./*.json >&2 || complain "--json prints what is not valid"
[ "$(find . -maxdepth 1 -name '*.json' | wc -l)" -eq 6 ] || complain "not every answer was printed as JSON"

# The tags of a repository in a registry, each with an index or an image.
mkdir registry
cat >registry.yml <<END
version: 0.1
storage: {filesystem: {rootdirectory: $work/registry}}
http: {addr: "127.0.0.1:0"}
END
touch registry.log
docker-registry serve registry.yml >registry.log 2>&1 &
registry=$!
stop_registry() {
	ended=$?
	set +e
	kill $registry 2>/dev/null
	(exit $ended)
	finish
}
trap stop_registry EXIT
port=
while [ -z "$port" ] && kill -0 $registry 2>/dev/null; do
	sleep 0.1
	port=$(sed -n 's/.*listening on 127\.0\.0\.1:\([0-9]*\).*/\1/p' registry.log | head -n 1)
done
[ -n "$port" ] || complain "docker-registry does not start: $(cat registry.log)"
nest layout-index
# A chart, which is an artifact, has a tag of its own.
entry layout-chart '{}'
sed -i 's/vnd.oci.image.config.v1/vnd.cncf.helm.config.v1/' "$(grep -l vnd.oci.image.config layout-chart/blobs/sha256/*)"
chart=$(sha256sum layout-chart/blobs/sha256/* | awk '{ n = split($2, p, "/"); if ($1 != p[n]) print $2, $1 }')
mv "${chart% *}" "layout-chart/blobs/sha256/${chart#* }"
size=$(wc -c <"layout-chart/blobs/sha256/${chart#* }")
printf '{"schemaVersion":2,"manifests":[{"mediaType":"application/vnd.oci.image.manifest.v1+json","digest":"sha256:%s","size":%s}]}' \
	"${chart#* }" "$size" >layout-chart/index.json
variant layout-one v1 CUDA_VERSION=11.8.0
for tag in 1.0:layout-index 0.9:layout-one chart:layout-chart; do
	skopeo --insecure-policy copy --quiet --all --dest-tls-verify=false "oci:${tag#*:}" "docker://127.0.0.1:$port/solver:${tag%:*}" >&2 ||
		complain "skopeo cannot push ${tag%:*}"
done
export XDG_CACHE_HOME="$work/cache"
expect_exit 0 gpucert image select --json --no-cache --plain-http --host "$hosts/linux-h200.json" "docker://127.0.0.1:$port/solver"
[ ! -e "$work/cache" ] || complain "--no-cache keeps something"
for want in /images/0/platform=linux/amd64/v3 /images/0/verdict=works /images/1/step=cpu-level /images/2/step=cpu-level /images/2/platform=linux/amd64; do
	[ "$(field "$work/out" "${want%%=*}")" = "${want#*=}" ] || complain "not $want but $(field "$work/out" "${want%%=*}")"
done
[ "$(grep -c '"reference"' "$work/out")" -eq 5 ] || complain "not the images of both tags"
grep -q "127.0.0.1:$port/solver:0.9@sha256:" "$work/out" || complain "the image of 0.9 is not there"
expect_exit 3 gpucert image select --host "$hosts/linux-h200.json" "docker://127.0.0.1:$port/nothing"
expect_says "127.0.0.1:$port/nothing"
kill $registry

expect_exit 0 gpucert image labels --host "$hosts/linux-h200.json"
compare_golden labels-h200
expect_exit 0 gpucert image labels --format node --host "$hosts/windows-server-2022.json"
compare_golden labels-server-2022
expect_exit 0 gpucert image labels
! grep -vE '^gpucert-[A-Za-z0-9]([-A-Za-z0-9_.]{0,53}[A-Za-z0-9])?=[A-Za-z0-9]([-A-Za-z0-9_.]{0,61}[A-Za-z0-9])?$' "$work/out" ||
	complain "a line of this machine is not a feature"

expect_exit 2 gpucert image select
expect_exit 2 gpucert image select a b
expect_exit 2 gpucert image labels --format yaml
expect_exit 3 gpucert image select "$work/nowhere.json"
expect_says nowhere.json
expect_exit 3 gpucert image select "oci:$work/nowhere"
expect_exit 3 gpucert image select --host "$work/nowhere.json" "$solver"
expect_exit 3 gpucert image labels --host "$work/nowhere.json"
echo '{"schema": "gpucert-catalogue/1", "images": [{"reference": "a", "platform": {"os": "linux"}}]}' >bad.json
expect_exit 3 gpucert image select bad.json
expect_says "bad.json: images[0].platform.architecture"
echo '{"schema": "gpucert-catalogue/1", "images": []}' >empty.json
expect_exit 1 gpucert image select empty.json
