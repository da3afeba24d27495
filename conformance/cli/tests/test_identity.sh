#!/bin/sh
# SPDX-License-Identifier: MIT
# Two environments that differ have two digests, and one environment has one. usage: test_identity.sh BIN NODES SCHEMA
. "$(dirname "$0")/lib.sh"
[ "$(id -u)" -eq 0 ] || skip "needs root"
command -v containerd >/dev/null || skip "needs containerd"
manifest=/usr/share/vulkan/icd.d/lvp_icd.$(uname -m).json
library=$(find /usr/lib -name libvulkan_lvp.so 2>/dev/null | head -n 1)
[ -f "$manifest" ] || skip "needs lavapipe"
[ -n "$library" ] || skip "needs lavapipe"
r=$work/report/report.json

# digest_of ARGUMENTS...: of the environment of a short run.
digest_of() {
	expect_exit 0 gpucert run --quiet --out "$work/report" "$@" registration.version >&2
	report "$r" r.environment.digest
}

# differ WHAT A B
differ() {
	[ "$2" != "$3" ] || complain "$1: both have $2"
}

# A driver, a low-level runtime and a plugin of our own, found before those of the system.
mkdir -p "$work/share/vulkan/icd.d" "$work/bin"
sed "s#\"library_path\".*#\"library_path\": \"$work/libvulkan_lvp.so\"#" "$manifest" >"$work/share/vulkan/icd.d/lvp_icd.json"
grep -q "$work" "$work/share/vulkan/icd.d/lvp_icd.json" || complain "the manifest names no library"
cp "$library" "$work/libvulkan_lvp.so"
printf '#!/bin/sh\nexec %s "$@"\n' "$(command -v runc)" >"$work/bin/runc"
chmod +x "$work/bin/runc"
cp "$bin/device-plugin-gpu" "$work/plugin"
# shellcheck disable=SC2016 # the script expands it
echo 'exec device-plugin-gpu --plugin-dir "$1"' >"$work/plugin.sh"
XDG_DATA_DIRS=$work/share
PATH=$work/bin:$PATH
export XDG_DATA_DIRS

first=$(digest_of)
again=$(digest_of)
[ "$first" = "$again" ] || complain "one environment has two digests: $first, $again"
expect_report "$r" "r.environment.node.kind" live
expect_report "$r" "r.environment.plugin.name" device-plugin-gpu
expect_report "$r" "r.environment.plugin.resources.length > 0" true
expect_report "$r" "/^runc [0-9]/.test(r.environment.runtime.oci)" true
expect_report "$r" "r.environment.devices.every((d) => d.runtimeFiles.digest.startsWith('sha256:'))" true

printf 'x' >>"$work/libvulkan_lvp.so"
# Nothing is in the environment that the schema does not name.
expect_report "$r" "Object.entries(JSON.parse(require('fs').readFileSync('$3')).\$defs.environment.properties).flatMap(([name, s]) => [r.environment[name]].flat().filter((v) => v?.constructor === Object).flatMap((v) => Object.keys(v).filter((key) => !((s.items ?? s).properties)[key]).map((key) => name + '.' + key))).join()" ""
expect_report "$r" "r.environment.devices.every((d) => d.node.id === d.ref && d.node.files === undefined)" true

driver=$(digest_of)
differ "two builds of a driver" "$first" "$driver"

echo '# another' >>"$work/bin/runc"
differ "two low-level runtimes" "$driver" "$(digest_of)"

# A plugin is its program, and a script's is not its interpreter alone. No containers are needed for that.
one=$(digest_of --launcher process --plugin "$work/plugin --plugin-dir {plugin-dir}")
printf 'x' >>"$work/plugin"
differ "two builds of a plugin" "$one" "$(digest_of --launcher process --plugin "$work/plugin --plugin-dir {plugin-dir}")"
one=$(digest_of --launcher process --plugin "sh $work/plugin.sh {plugin-dir} S3CRET")
expect_report "$r" "r.environment.plugin.files.map((f) => f.name).join()" plugin.sh
# The script makes way for the plugin, which is what serves.
expect_report "$r" "r.environment.plugin.name" device-plugin-gpu
! grep -q S3CRET "$r" "$work/report/journal.ndjson" || complain "the report holds the plugin's arguments"
for spelling in --plugin= -p -qp; do
	expect_exit 0 gpucert run --launcher process --out "$work/report" "${spelling}sh	$work/plugin.sh	{plugin-dir} S3CRET" registration.version
	! grep -q S3CRET "$r" "$work/report/journal.ndjson" || complain "the report holds the arguments of $spelling"
done
expect_exit 0 gpucert run --launcher process --out "$work/report" -qp " sh $work/plugin.sh {plugin-dir} S3CRET" registration.version
! grep -q S3CRET "$r" "$work/report/journal.ndjson" || complain "the report holds the arguments of -qp"
echo '# another' >>"$work/plugin.sh"
differ "two scripts" "$one" "$(digest_of --launcher process --plugin "sh $work/plugin.sh {plugin-dir} S3CRET")"

# A recording is told from a machine.
sed 's/"product": ".*"/"product": "A system"/' "$2/windows-mixed.json" >"$work/node.json"
one=$(digest_of --node "$2/windows-mixed.json")
expect_report "$r" "r.environment.node.kind" recorded
expect_report "$r" "r.environment.node.machine.kernel" "$(uname -r)"
expect_report "$r" "r.environment.os.name" windows
expect_report "$r" "r.verdict.conformance.result" incomplete
differ "two recordings" "$one" "$(digest_of --node "$work/node.json")"
expect_exit 0 gpucert run --out "$work/report" --node "$work/node.json" registration.version
expect_says "a recorded node (node.json): "
expect_says "; replayed on "
