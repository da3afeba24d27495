#!/bin/sh
# SPDX-License-Identifier: MIT
# The default run on a containerd of another generation. usage: test_generation.sh BIN MAKE_CONTAINERD GENERATION
. "$(dirname "$0")/lib.sh"
[ "$(id -u)" -eq 0 ] || skip "needs root"
containerd=$("$2" --cached "$3") || skip "there is no containerd $3 in the cache"

expect_exit 0 gpucert run --containerd "$containerd" --out "$work/report"
r=$work/report/report.json
expect_report "$r" "r.checks.filter((c) => !['pass', 'not-applicable'].includes(c.outcome)).map((c) => c.id + ' ' + c.outcome).join()" "isolation.device-memory unsupported"
expect_report "$r" "r.verdict.conformance.result" conformant
expect_report "$r" "['api.vulkan', 'api.opencl', 'api.opengl'].map(outcome).join()" "pass,pass,pass"
expect_report "$r" "r.environment.runtime.version.startsWith('$3.')" true
# The shim is the one beside it.
expect_report "$r" "r.environment.runtime.shim" "containerd-shim-runc-v2 $("$(dirname "$containerd")/containerd-shim-runc-v2" -v | sed -n 's/^ *Version: *v*//p')"
expect_nothing_left
echo "seconds: $(report "$r" 'r.run.durationMs / 1000')"
