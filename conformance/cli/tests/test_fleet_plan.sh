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

# Reports are pushed to a place of their own, with credentials that no Job shows.
push='https://reports.example/nov/{node}'
expect_exit 0 gpucert fleet plan "$work/nodes.json" --image "$image" --push "$push" --push-secret reports --pod-resources --deadline 400
cp "$work/out" "$work/pushing.json"
expect_report "$work/pushing.json" "r.items.every(({spec}) => spec.template.spec.containers[0].env.some(({name, value}) => name === 'FLEET_PUSH' && value === 'https://reports.example/nov/' + spec.template.metadata.annotations['gpucert.internal/node']))" true
expect_report "$work/pushing.json" "r.items[0].spec.template.spec.volumes.map((v) => v.name + (v.secret?.secretName ?? '')).join()" report,run,tmp,pod-resources,secretreports
expect_report "$work/pushing.json" "r.items[0].spec.template.spec.containers[0].args[0]" --pod-resources=/var/lib/kubelet/pod-resources/kubelet.sock
expect_says '"--within 100"'
report "$work/pushing.json" "JSON.stringify(r.items[0])" >"$work/job.yaml"
node "$manifests" "$work/job.yaml" || complain "the Job that pushes is not as the Kubernetes API has it"
# refused PLACE WORDS
refused() {
	expect_exit 2 gpucert fleet plan "$work/nodes.json" --image "$image" --push "$1"
	expect_says "$2"
}
refused 'https://me:secret@reports.example/{node}' "--push-secret"
refused 'https://reports.example/all' "expected a URL with one {node}"
refused 'https://reports.example/{node}/{node}' "expected a URL with one {node}"
refused 'https://reports example/{node}' "expected a URL with one {node}"
refused 'reports/{node}' "--push: 'reports/"
refused 'https://reports.example/{node}?signature=1' "--push: expected a URL without user, query and fragment"
refused 'http://reports.example/{node}' "--plain-http"
refused 'oci://reports.example/{node}' "name a tag"
refused 'https:///{node}' "not a URL with a host"
refused "https://reports.example/$(printf '%0500d' 0)/{node}" "longer than 512 characters"

# The Kubernetes API knows every field.
report "$work/jobs.json" "JSON.stringify(r.items[0])" >"$work/job.yaml"
node "$manifests" "$work/job.yaml" || complain "the Job is not as the Kubernetes API has it"

# container DELAY NAME: the first Job's, with its environment but for the places, which are $work/NAME/...
container() {
	# shellcheck disable=SC2016 # an expression of JavaScript
	node - "$work/jobs.json" >"$work/container.sh" <<-'E2'
		const {items} = JSON.parse(require('fs').readFileSync(process.argv[2]));
		const {command, args, env} = items[0].spec.template.spec.containers[0];
		const quoted = (word) => `'${word.replaceAll("'", "'\\''")}'`;
		console.log(env.filter(({value}) => value !== undefined).map(({name, value}) => `: "\${${name}=${value}}"; export ${name}`).join('\n'));
		console.log('exec ' + [...command, ...args].map(quoted).join(' '));
	E2
	mkdir -p "$work/$2"
	FLEET_DELAY=$1 FLEET_OUT=$work/$2/a FLEET_VERDICT=$work/verdict FLEET_LOG=$work/log FLEET_SECRET=$work/secret exec sh "$work/container.sh"
}

code=0
(container 0 quick) >"$work/log" 2>&1 || code=$?
[ $code -eq 0 ] || complain "the container ends with $code: $(tail -n 5 "$work/log")"
[ -f "$work/quick/a/report.json" ] || complain "no report is kept"
[ "$(report "$work/verdict" r.journal)" = "$(report "$work/quick/a/report.json" r.run.journal.digest)" ] ||
	complain "the verdict is that of another run"
node "$validate" "$schema/verdict.schema.json" "$work/verdict" || complain "the verdict is not as its schema says"

# It also says whether the report is in its place.
# push_verdict OPTION FILE EXPRESSION VALUE
push_verdict() {
	expect_exit 0 gpucert fleet verdict "$1" "$2" "$work/quick/a"
	cp "$work/out" "$work/pushed"
	node "$validate" "$schema/verdict.schema.json" "$work/pushed" || complain "$1 breaks the verdict"
	expect_report "$work/pushed" "$3" "$4"
}
echo '{"reference": "https://reports.example/a@sha256:1"}' >"$work/receipt"
echo 'gpucert publish: report.json: status 507' >"$work/error"
push_verdict --pushed "$work/receipt" r.pushed https://reports.example/a@sha256:1
push_verdict --not-pushed "$work/error" r.notPushed 'report.json: status 507'
push_verdict --not-pushed "$work/none" r.notPushed 'not yet'
push_verdict --pushed "$work/none" r.notPushed 'not yet'

# A pod that is made again does not run again, unless something else is to be run.
cp "$work/verdict" "$work/first"
code=0
(container 0 quick) >"$work/log" 2>&1 || code=$?
[ $code -eq 0 ] || complain "the second container ends with $code: $(tail -n 5 "$work/log")"
cmp -s "$work/verdict" "$work/first" || complain "the second container has another verdict: $(cat "$work/verdict")"
expect_exit 0 gpucert fleet begin --plan "$(report "$work/jobs.json" 'r.items[0].spec.template.spec.containers[0].env.find((v) => v.name === "FLEET_PLAN").value')" "$work/quick/a"
expect_exit 4 gpucert fleet begin --plan other "$work/quick/a"
[ -f "$work/quick/earlier_runs/1/a/report.json" ] || complain "the report of another plan is lost"
cp "$work/first" "$work/verdict"

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
(container 0 signal) >"$work/log" 2>&1 &
pod=$!
read -r _ <"$work/started"
kill -TERM $pod
code=0
wait $pod || code=$?
[ $code -eq 4 ] || complain "after a signal the container ends with $code, expected 4"
expect_report "$work/verdict" "r.exitCode" 4

# A signal before the start is an incomplete run.
(container 3600 never) >"$work/log" 2>&1 &
pod=$!
until pgrep -P $pod -x sleep >/dev/null; do sleep 0.1; done
kill -TERM $pod
code=0
wait $pod || code=$?
[ $code -eq 4 ] || complain "before the start a signal ends the container with $code, expected 4"
