#!/bin/sh
# SPDX-License-Identifier: MIT
# The Sonobuoy plugin of conformance/deploy/, next to a script that plays Sonobuoy's worker and aggregator: whatever happens to the run, there
# are results, and only what passed is passed. usage: test_sonobuoy.sh BIN SONOBUOY MANIFESTS PLUGIN
. "$(dirname "$0")/lib.sh"
sonobuoy=$2 manifests=$3 plugin=$4

# The Kubernetes API knows every field of the pod.
node "$sonobuoy" pod "$plugin" >"$work/pod.yaml"
node "$manifests" "$work/pod.yaml" || complain "the pod is not as the Kubernetes API has it"

# results NAME ARGUMENT...: a run of the plugin; what Sonobuoy reads is in $work/NAME.json.
results() {
	name=$1
	shift
	mkdir -p "$work/$name"
	expect_exit 0 node "$sonobuoy" run "$plugin" "$work/$name" "$@"
	cp "$work/out" "$work/$name.json"
}

# expect_status NAME CHECK STATUS: of an item; of the whole for "".
expect_status() {
	expect_report "$work/$1.json" "'$2' ? r.items.find((i) => i.name === '$2')?.status : r.status" "$3"
}

results good --launcher process environment.devices registration.arrives isolation.no-allocation
expect_status good "" passed
expect_status good registration.arrives passed
expect_status good isolation.no-allocation skipped
[ -s "$work/good/gpucert/report/report.json" ] || complain "the report is not among the results"

cat >"$work/script.json" <<'END'
{"plugins": [{"resource": "example.com/gpu", "devices": [{"id": "a"}], "rpc": {"Allocate": {"code": "INTERNAL",
"message": "- a: *b\n--- %x \u0001\u2028\u202e\ufffe {"}}}]}
END
results bad --launcher process --plugin "'$bin/../tests/scripted-plugin' '$work/script.json' {plugin-dir}" \
	registration.arrives allocate.each-and-all
expect_status bad "" failed
expect_status bad registration.arrives passed
expect_status bad allocate.each-and-all failed
expect_report "$work/bad.json" "r.items.find((i) => i.name === 'allocate.each-and-all').details.reason.includes('- a: *b')" true

# Runs that prove nothing: no run at all, no check, no harness.
results usage --no-such-option
expect_status usage "" unknown
expect_status usage "gpucert run" unknown
expect_report "$work/usage.json" "r.items[0].details.exitCode" 2
results few --launcher process --min-run 5 registration.arrives
expect_status few registration.arrives passed
expect_status few "" unknown
mkdir "$work/fake"
cat >"$work/fake/gpucert" <<-E2
	#!/bin/sh
	[ "\$1" = run ] || exec "$bin/gpucert" "\$@"
	kill -KILL \$\$
E2
chmod +x "$work/fake/gpucert"
PATH=$work/fake:$PATH results dead registration.arrives
expect_status dead "" unknown
expect_report "$work/dead.json" "r.items[0].details.exitCode" 137

# The container was killed during the run, and started again: no second run, and what did not run did not pass.
mkdir -p "$work/killed/gpucert/report"
head -n -3 "$work/good/gpucert/report/journal.ndjson" >"$work/killed/gpucert/report/journal.ndjson"
cp -R "$work/good/gpucert/report/evidence" "$work/killed/gpucert/report" 2>/dev/null || true
results killed --launcher process environment.devices
[ ! -e "$work/killed/gpucert/report/report.json" ] || complain "the run was repeated"
expect_report "$work/killed.json" "r.status === 'passed'" false
expect_report "$work/killed.json" "r.details.exitCode" 4
