#!/bin/sh
# SPDX-License-Identifier: MIT
# core_alone.sh CMAKE SOURCE BUILD: the core builds, links and certifies with no module (cmake/GpucertModules.cmake), and offers no
# command of one.
set -eu
cmake=$1
source=$2
build=$3
work=$(mktemp -d "$build/tests/core-alone-XXXXXX")
trap 'rm -rf "$work"' EXIT

if [ "$(id -u)" -ne 0 ] || ! command -v containerd >/dev/null; then
	echo "needs root and containerd"
	exit 77
fi
"$cmake" -S "$source" -B "$work/build" -G Ninja -DCMAKE_BUILD_TYPE=RelWithDebInfo -DGPUCERT_MODULES= >"$work/log"
if ! "$cmake" --build "$work/build" >"$work/log" 2>&1; then
	tail -n 30 "$work/log"
	exit 1
fi
gpucert=$work/build/bin/gpucert
if "$gpucert" --help | grep -E '^  (compare|matrix|attest|image check|publish|certify|fleet plan)'; then
	echo "commands of modules are offered"
	exit 1
fi
"$gpucert" run --out "$work/report" --quiet environment registration allocate api isolation.single-device
"$gpucert" report "$work/report"
for check in environment.container registration.arrives allocate.one-response api.vulkan isolation.single-device; do
	"$gpucert" report --format json "$work/report" |
		node -e 'const r = JSON.parse(require("fs").readFileSync(0)); process.exit(r.checks.find((c) => c.id === process.argv[1]).outcome === "pass" ? 0 : 1)' "$check" || {
		echo "$check did not pass"
		exit 1
	}
done
[ ! -e "$work/report/report.html" ] || {
	echo "report.html is there without the module pages"
	exit 1
}
