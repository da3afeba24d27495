#!/bin/sh
# SPDX-License-Identifier: MIT
# The main job: a whole run with the reference plugin and real containers. usage: test_run.sh BIN VALIDATE SCHEMAS README
. "$(dirname "$0")/lib.sh"
[ "$(id -u)" -eq 0 ] || skip "needs root"
command -v containerd >/dev/null || skip "needs containerd"

cd "$work"
expect_exit 0 gpucert run --out report
r=$work/report/report.json
for check in api.vulkan api.opencl api.opengl isolation.no-allocation isolation.single-device isolation.two-containers \
	isolation.shared-replicas environment.container registration.arrives allocate.each-and-all \
	restart.kubelet-restart; do
	expect_report "$r" "outcome('$check')" pass
done
expect_report "$r" "r.checks.filter((c) => c.outcome !== 'pass' && !(c.outcome === 'not-applicable' && /^api\.|^allocate\.cdi-|^allocate\.(independent|unhealthy-id|permissions)$|^sharing\.|^security\.(device|unrelated)-nodes$|^preferred-allocation\.not-offered$|^pre-start\.|^isolation\.(apis-agree|management-apis|device-access)$/.test(c.id))).map((c) => c.id + ' ' + c.outcome).join()" "isolation.device-memory unsupported"
expect_report "$r" "r.checks.find((c) => c.id === 'api.vulkan').deviceOutcomes.map((d) => d.ref + ' ' + d.outcome).join()" "lavapipe pass"
expect_report "$r" "r.checks.find((c) => c.id === 'api.cuda').reason" "no device of the node offers cuda"
expect_report "$r" "r.checks.flatMap((c) => c.observations ?? []).every((s) => s.others === 0 && s.saw.join() === s.granted.join())" true
expect_report "$r" "r.checks.find((c) => c.id === 'isolation.single-device').observations.map((s) => s.saw.join()).sort().join(' ')" "lavapipe llvmpipe pocl"
expect_report "$r" "r.run.state" complete
expect_report "$r" "r.verdict.exitCode" 0
expect_report "$r" "r.verdict.conformance.result" conformant
expect_says "PASSED"
expect_report "$r" "r.requirements.find((q) => q.id === 'WIN-01').verdict" not-applicable
# The right reason: the drivers are called what they are, and they did the work.
expect_report "$r" "r.environment.devices.some((d) => d.kind === 'software')" true
expect_report "$r" "r.checks.find((c) => c.id === 'api.vulkan').notes?.some((n) => n.includes('llvmpipe')) ?? JSON.stringify(r).includes('llvmpipe')" true
[ $# -lt 3 ] || {
	expect_exit 0 node "$2" "$3/report.schema.json" "$r"
	expect_exit 0 node "$2" "$3/journal.schema.json" "$work/report/journal.ndjson"
}
grep -q '<testsuite' "$work/report/junit.xml" || complain "junit.xml has no test suite"
expect_nothing_left
expect_report "$r" "r.run.harness.commit === null || /^[0-9a-f]{40}(-modified)?$/.test(r.run.harness.commit)" true
overhead=$(report "$r" "r.run.time.overheadPercent")
echo "run.time.overheadPercent: $overhead, seconds: $(report "$r" 'r.run.durationMs / 1000')"

# Another run in the same environment has the same reproducible report, byte by byte, also with several checks at a time.
mkdir "$work/again"
cd "$work/again"
expect_exit 0 gpucert run --jobs 4 --out report
for run in "$work" "$work/again"; do
	expect_exit 0 gpucert report --reproducible --format json "$run/report"
	sed '/^ *"--jobs",$/,+1d' "$work/out" >"$run/reproducible.json"
done
cmp "$work/reproducible.json" "$work/again/reproducible.json" ||
	complain "two reproducible reports differ: $(diff "$work/reproducible.json" "$work/again/reproducible.json" | head -n 20)"
# What README.md shows is what the programs print: `cmake --build BUILD --target readme` writes it.
[ $# -lt 4 ] || expect_exit 0 node "$4" "$bin/.." --check run="$work/again/report"
expect_report report/report.json "r.run.time.otherMs === undefined && r.run.time.overheadPercent === undefined" true

# Containers share the devices: one check at a time launches them, while others talk to the plugin.
launching="r.checks.filter((c) => c.time && (c.time.phasesMs.cri ?? 0) > 0)"
beside="b !== a && b.time && b.time.startedMs < a.time.startedMs + a.time.durationMs && a.time.startedMs < b.time.startedMs + b.time.durationMs"
expect_report report/report.json "$launching.filter((a) => $launching.some((b) => $beside)).map((c) => c.id).join()" ""
expect_report report/report.json "$launching.some((a) => r.checks.some((b) => $beside))" true
expect_report "$r" "r.requirements.find((q) => q.id === 'LAW-07').reason.includes('watched for')" true

# Without containers the same checks are unsupported, not failed, and what ran on the host proves nothing about them.
expect_exit 0 gpucert run --launcher process --out "$work/report" environment isolation api
expect_says "PARTIAL"
expect_report "$r" "outcome('isolation.no-allocation')" unsupported
expect_report "$r" "outcome('environment.container')" pass
expect_report "$r" "outcome('api.vulkan')" pass
expect_report "$r" "r.requirements.filter((q) => /^(API-01|ENV-0.|ISO-0[123])$/.test(q.id)).every((q) => q.verdict === 'not-tested')" true
expect_report "$r" "r.requirements.find((q) => q.id === 'API-01').reason.includes('--launcher process')" true
expect_report "$r" "r.verdict.conformance.result" incomplete
expect_exit 1 gpucert run --require-conformant --launcher process --out "$work/report" environment api

# A filter leaves the requirements of what it leaves out open.
expect_exit 0 gpucert run --out "$work/report" environment api -x api.opencl
expect_report "$r" "r.requirements.find((q) => q.id === 'API-01').verdict" not-tested
expect_report "$r" "r.requirements.find((q) => q.id === 'API-01').reason" "api.opencl was left out"
