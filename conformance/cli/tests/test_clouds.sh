#!/bin/sh
# SPDX-License-Identifier: MIT
# The walk-throughs of clouds run nothing without --run, and with it print each command before it runs. The clouds' commands are doubles.
# usage: test_clouds.sh BIN SCRIPTS MANIFESTS
. "$(dirname "$0")/lib.sh"
scripts=$2
manifests=$3
command -v jq >/dev/null || skip "jq is not installed"

REAL_GPUCERT=$(command -v gpucert)
ANSWERS=$work/answers
RECORD=$work/record
STATE="$work/it's the state"
export REAL_GPUCERT ANSWERS RECORD STATE
export CLUSTER=c1 REGION=r1 GROUP=g1 LOCATION=l1 PROJECT=p1
IMAGE=registry.example/gpucert@sha256:$(printf '%064d' 1)
export IMAGE

mkdir -p "$work/doubles" "$ANSWERS"
for name in aws az eksctl gcloud kubectl gpucert nvidia-device-plugin nvidia-gpu-device-plugin; do
	ln -s "$(cd "$(dirname "$0")" && pwd)/doubles/cloud_command.sh" "$work/doubles/$name"
done
for i in 1 2; do
	gpucert run --quiet --launcher process --out "$ANSWERS/reader-$i/gpu-$i" registration.arrives
done
echo '{"kind": "List", "items": []}' >"$ANSWERS/pods.json"
PATH=$work/doubles:$PATH

# two_nodes TAINT: as kubectl lists those of a pool.
two_nodes() {
	for name in gpu-1 gpu-2; do
		printf '{"kind": "Node", "metadata": {"name": "%s", "labels": {"kubernetes.io/hostname": "%s"}}, "spec": {"taints":
			[{"key": "%s", "effect": "NoSchedule"}]}, "status": {"conditions": [{"type": "Ready", "status": "True"}]}}\n' $name $name "$1"
	done | jq -s '{kind: "List", items: .}' >"$ANSWERS/nodes.json"
}

# run_stage SCRIPT STAGE [ARGUMENT...]: $work/log has what it prints, and a line "ran ..." for each command of a double, in order.
run_stage() {
	RECORD=$work/log
	: >"$RECORD"
	code=0
	sh "$scripts/$1.sh" --run "$2" >>"$RECORD" 2>"$work/err" || code=$?
	grep -v '^ran ' "$work/log" >"$work/printed" || true
	grep '^ran ' "$work/log" >"$work/ran" || true
	RECORD=$work/record
}

# expect_same WHAT: a shell that reads what was printed runs what was run.
expect_same() {
	rm -f "$RECORD"
	sh "$work/printed" >"$work/out" 2>&1 || true
	cmp -s "$RECORD" "$work/ran" || complain "$1: what was printed is not what ran: $(diff "$RECORD" "$work/ran")"
}

for cloud in eks aks gke; do
	rm -rf "$STATE" "$RECORD"
	case $cloud in aks) two_nodes sku ;; *) two_nodes nvidia.com/gpu ;; esac

	for stage in create certify collect delete; do
		expect_exit 0 sh "$scripts/$cloud.sh" $stage
		case $(head -n 1 "$work/out") in "# not yet verified: "*) ;; *) complain "$cloud $stage begins with $(head -n 1 "$work/out")" ;; esac
		sh -n "$work/out" || complain "$cloud $stage prints no script"
		[ $stage = create ] || expect_exit 2 sh "$scripts/$cloud.sh" --run $stage
		[ $stage = create ] || expect_says "made nothing here"
	done
	expect_exit 2 env CLUSTER= sh "$scripts/$cloud.sh" --run create
	expect_says "set the variable CLUSTER"
	if [ -e "$STATE" ] || [ -e "$RECORD" ]; then
		complain "$cloud: something was run: $(cat "$RECORD")"
	fi

	for stage in create certify collect delete; do
		run_stage $cloud $stage
		[ $code -eq 0 ] || complain "$cloud $stage ends with $code: $(cat "$work/err")"
		awk '/^ran / { if (last ~ /^(ran|#) /) exit 1; n++ } { last = $0 } END { if (n == 0) exit 1 }' "$work/log" ||
			complain "$cloud $stage: a command was not printed before it ran: $(cat "$work/log")"
		[ $stage != create ] || cp "$STATE/id" "$work/id"
		[ $stage != create ] || grep -q "^# COSTS MONEY" "$work/printed" || complain "$cloud $stage does not say what costs money"
		if [ $stage = delete ]; then
			grep -v "\b$(cat "$work/id")\b" "$work/ran" && complain "$cloud deletes what it did not make"
			[ ! -e "$STATE/id" ] || complain "$cloud: what is deleted is still known"
			cp "$work/id" "$STATE/id"
		fi
		expect_same "$cloud $stage"
		[ $stage = delete ] || cp "$work/id" "$STATE/id"
		if [ $stage = collect ]; then
			expect_says "2 nodes"
			ls "$STATE"/reports/gpu-1/report.json "$STATE"/reports/gpu-2/report.json >/dev/null || complain "$cloud: no reports"
		fi
	done

	# The Jobs have arguments that gpucert knows.
	jobs=$(ls "$STATE"/jobs-*.json 2>/dev/null || echo "$STATE/jobs.json")
	[ "$(jq '.items | length' "$jobs")" = 2 ] || complain "$cloud: not a Job for each node"
	jq -r '.items[0].spec.template.spec.containers[0].args[]' "$jobs" >"$work/arguments"
	set --
	while IFS= read -r word; do
		set -- "$@" "$word"
	done <"$work/arguments"
	expect_exit 0 "$REAL_GPUCERT" run --dry-run --launcher process "$@" registration
	jq '.items[0]' "$jobs" >"$work/job-$cloud.yaml"

	# An error ends it.
	for stage in certify delete; do
		cp "$work/id" "$STATE/id"
		case $stage in certify) FAIL_AT="[label]" ;; *) FAIL_AT="[namespace]" ;; esac
		export FAIL_AT
		run_stage $cloud $stage
		unset FAIL_AT
		if [ $code -ne 1 ] || ! tail -n 1 "$work/log" | grep -q '^ran kubectl .*\[namespace\]'; then
			complain "$cloud $stage goes on after an error ($code): $(tail -n 2 "$work/log")"
		fi
		grep -q "failed (7)" "$work/err" || complain "$cloud $stage: $(cat "$work/err")"
	done
	run_stage $cloud create
	[ "$code $(wc -l <"$work/ran")" = "2 0" ] || complain "$cloud forgets the pool that it made"
done
node "$manifests" "$work"/job-*.yaml || complain "a Job is not as the Kubernetes API has it"

# Any words survive; none is run.
odd=$(printf 'a b\nc\t%s' "'\"\$(touch '$work/run')\`touch '$work/run'\`\\ ~ * é;&|<>!#%%")
export odd
for cloud in eks aks gke; do
	rm -rf "$STATE"
	CLUSTER=$odd PROJECT=-$odd NODES="$odd'" run_stage $cloud create
	[ $code -eq 0 ] || complain "$cloud: $(cat "$work/err")"
	grep -qF '[a b~c' "$work/ran" || complain "$cloud: $(cat "$work/ran")"
	expect_same "$cloud with odd words"
done
[ ! -e "$work/run" ] || complain "a word was run as a command"

# Windows: what the clouds have.
for cloud in eks aks; do
	rm -rf "$STATE"
	WINDOWS=2025 run_stage $cloud create-windows
	grep -q 'Windows.*2025' "$work/ran" || complain "$cloud: no Windows: $(cat "$work/ran")"
done
rm -rf "$STATE"
expect_exit 2 sh "$scripts/gke.sh" --run create-windows
expect_says "no source"
[ ! -e "$STATE" ] || complain "gke makes a pool with Windows"
expect_exit 2 sh "$scripts/gke.sh" --run creat
expect_exit 0 sh "$scripts/gke.sh" --help
