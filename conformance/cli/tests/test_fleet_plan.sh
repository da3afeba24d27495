#!/bin/sh
# SPDX-License-Identifier: MIT
# A list of nodes becomes Jobs whose container runs gpucert, keeps the report and writes the verdict.
# usage: test_fleet_plan.sh BIN VALIDATE SCHEMA MANIFESTS
. "$(dirname "$0")/lib.sh"
validate=$2
schema=$3
manifests=$4
image=registry.example/gpucert@sha256:$(printf '%064d' 1)

# entry NAME: a node of the list.
entry() {
	printf '{"kind": "Node", "metadata": {"name": "%s", "labels": {"kubernetes.io/hostname": "%s"}},
		"status": {"conditions": [{"type": "Ready", "status": "True"}]}}' "$1" "$1"
}
printf '{"kind": "List", "items": [%s, %s, %s]}' "$(entry a)" "$(entry b)" "$(entry c)" >"$work/nodes.json"
printf '{"kind": "List", "items": [%s, %s]}' "$(entry a)" "$(entry a)" >"$work/twice.json"
head -c 200 "$work/nodes.json" >"$work/torn.json"

expect_exit 0 gpucert fleet plan "$work/nodes.json" --image "$image" --max-unavailable 2 -- --launcher process environment.devices
expect_says "wave 1 of 2, 2 of 3 nodes; 0 left out"
cp "$work/out" "$work/jobs.json"
expect_exit 0 gpucert fleet plan "$work/nodes.json" --image "$image" --max-unavailable 2 --wave 2
expect_exit 2 gpucert fleet plan "$work/nodes.json" --image "$image" --max-unavailable 2 --wave 3
expect_exit 2 gpucert fleet plan "$work/nodes.json" --image registry.example/gpucert:1
expect_says "--allow-tag"
expect_exit 2 gpucert fleet plan "$work/nodes.json"
expect_says "--image is missing"
expect_exit 2 gpucert fleet plan "$work/twice.json" --image "$image"
expect_says "twice.json: items[1]: metadata.name: 'a' is that of items[0], too"
expect_exit 2 gpucert fleet plan "$work/torn.json" --image "$image"
expect_says "torn.json: "
expect_exit 2 gpucert fleet plan "$work/missing.json" --image "$image"

# The Kubernetes API knows every field.
report "$work/jobs.json" "JSON.stringify(r.items[0])" >"$work/job.yaml"
node "$manifests" "$work/job.yaml" || complain "the Job is not as the Kubernetes API has it"

# container DELAY: the first Job's, with its environment but for the places.
container() {
	# shellcheck disable=SC2016 # an expression of JavaScript
	node - "$work/jobs.json" >"$work/container.sh" <<-'E2'
		const {items} = JSON.parse(require('fs').readFileSync(process.argv[2]));
		const {command, args} = items[0].spec.template.spec.containers[0];
		console.log('exec ' + [...command, ...args].map((word) => `'${word.replaceAll("'", "'\\''")}'`).join(' '));
	E2
	FLEET_DELAY=$1 FLEET_OUT=$work/report FLEET_VERDICT=$work/verdict exec sh "$work/container.sh"
}

code=0
(container 0) >"$work/log" 2>&1 || code=$?
[ $code -eq 0 ] || complain "the container ends with $code: $(tail -n 5 "$work/log")"
[ -f "$work/report/report.json" ] || complain "no report is kept"
[ "$(report "$work/verdict" r.journal)" = "$(report "$work/report/report.json" r.run.journal.digest)" ] ||
	complain "the verdict is that of another run"
node "$validate" "$schema/verdict.schema.json" "$work/verdict" || complain "the verdict is not as its schema says"

# The pods' verdicts are the index: of the plan's two nodes one has a pod.
node - "$work/jobs.json" "$work/verdict" >"$work/pods.json" <<'E2'
	const fs = require('fs');
	const {items} = JSON.parse(fs.readFileSync(process.argv[2]));
	const terminated = {exitCode: 0, message: fs.readFileSync(process.argv[3], 'utf8')};
	const {metadata} = items[0].spec.template;
	console.log(JSON.stringify({kind: 'List', items: [
		{kind: 'Pod', metadata: {...metadata, name: 'p'}, status: {phase: 'Succeeded', containerStatuses: [{state: {terminated}}]}}]}));
E2
expect_exit 0 gpucert fleet status "$work/pods.json" --plan "$work/jobs.json"
expect_says "2 nodes: 1 passed, 1 missing, 0 pending, 0 running, 0 lost, 0 failed"
expect_exit 3 gpucert fleet status "$work/jobs.json"
expect_says "jobs.json: items[0]: kind: expected Pod, got 'Job'"
expect_exit 3 gpucert fleet status "$work/torn.json"

# Without a report the verdict says so.
expect_exit 3 gpucert fleet verdict "$work/missing" --exit-code 2
cp "$work/out" "$work/verdict"
node "$validate" "$schema/verdict.schema.json" "$work/verdict" || complain "a missing report breaks the verdict"
expect_report "$work/verdict" "r.exitCode" 2

# A signal ends the run, not only the shell, and its exit code is the pod's.
mkdir "$work/fake"
mkfifo "$work/started"
cat >"$work/fake/gpucert" <<-E2
	#!/bin/sh
	[ "\$1" = run ] || exec "$bin/gpucert" "\$@"
	trap 'exit 4' TERM
	echo >"$work/started"
	while :; do sleep 1 & wait "\$!"; done
E2
chmod +x "$work/fake/gpucert"
PATH=$work/fake:$PATH
(container 0) >"$work/log" 2>&1 &
pod=$!
read -r _ <"$work/started"
kill -TERM $pod
code=0
wait $pod || code=$?
[ $code -eq 4 ] || complain "after a signal the container ends with $code, expected 4"
expect_report "$work/verdict" "r.exitCode" 4

# A signal before the start is an incomplete run.
(container 3600) >"$work/log" 2>&1 &
pod=$!
until pgrep -P $pod -x sleep >/dev/null; do sleep 0.1; done
kill -TERM $pod
code=0
wait $pod || code=$?
[ $code -eq 4 ] || complain "before the start a signal ends the container with $code, expected 4"
