# SPDX-License-Identifier: MIT
# shellcheck shell=sh
# What eks.sh, aks.sh and gke.sh share; docs/clouds.md. Each sets the variables below, defines credentials, pool_create, pool_create_windows,
# pool_delete and plan, and calls main "$@". What main prints to standard output can be pasted into a shell.
set -eu
: "${cloud:?}" "${variables:?}" "${needs:?}"

here=$(cd "$(dirname "$0")" && pwd)
running=
jobs=jobs.json

# quote WORD...: one text that a shell splits into these words again.
quote() {
	text=
	for word; do
		case $word in
		'' | *[!A-Za-z0-9_./:=,@%+-]*)
			word=$(printf '%s.' "$word" | sed "s/'/'\\\\''/g")
			word="'${word%.}'"
			;;
		esac
		text="$text${text:+ }$word"
	done
	printf '%s' "$text"
}

say() {
	printf '%s\n' "$*" | sed 's/^/# /'
}

stop() {
	printf '%s: %s\n' "$0" "$1" >&2
	exit "${2:-2}"
}

carry_out() {
	[ -n "$running" ] || return 0
	"$@" || stop "the last command failed ($?), and nothing after it was run. What 'create' made exists and costs money until 'delete' ends." 1
}

# step COMMAND...: prints the command, then runs it with --run.
step() {
	quote "$@"
	echo
	carry_out "$@"
}

# step_to FILE COMMAND...: its output goes to the file in the state folder.
step_to() {
	file=$state/$1
	shift
	quote "$@"
	printf ' >%s\n' "$(quote "$file")"
	[ -z "$running" ] || carry_out "$@" >"$file"
}

kube() {
	step kubectl --kubeconfig "$state/kubeconfig" "$@"
}

kube_to() {
	file=$1
	shift
	step_to "$file" kubectl --kubeconfig "$state/kubeconfig" "$@"
}

# require VARIABLE...: each is set with --run; otherwise its own name stands for it.
require() {
	for name; do
		eval "value=\${$name-}"
		if [ -z "$value" ]; then
			[ -z "$running" ] || stop "set the variable $name ($needs)"
			eval "$name=$name"
		fi
	done
}

# The pool's name is random, and in a file before the pool exists: 'delete' removes a pool of that name only.
create() {
	[ -z "$running" ] || [ ! -e "$state/id" ] || stop "$state/id: an earlier pool; run 'delete' first, or set STATE to another folder"
	if [ -n "$running" ]; then
		id=g$(od -An -N4 -tx1 /dev/urandom | tr -d ' \n' | cut -c 1-5)
	elif [ ! -e "$state/id" ]; then
		say "$id stands for a random name, which 'create' draws"
	fi
	step mkdir -p "$state"
	step_to id printf '%s\n' "$id"
	credentials
	say "COSTS MONEY from here until 'delete' ends: machines with GPUs (${NODES:=1}), and their disks"
	"$1"
}

certify() {
	kube_to nodes.json get nodes -l "gpucert.internal/pool=$id" -o json
	step_to jobs.json gpucert fleet plan "$state/nodes.json" --image "$IMAGE" --name "$id" --namespace "gpucert-$id" \
		--max-unavailable 100% "$@"
	adapt_jobs
	kube_to namespace.json create namespace "gpucert-$id" --dry-run=client -o json
	kube apply -f "$state/namespace.json"
	say "the Jobs are privileged"
	kube label --overwrite namespace "gpucert-$id" pod-security.kubernetes.io/enforce=privileged
	kube apply -f "$state/$jobs"
	say "'collect' shows how far they are, and fetches the reports; repeat it until no node is running or pending"
}

adapt_jobs() {
	:
}

collect() {
	kube_to pods.json -n "gpucert-$id" get pods -l "gpucert.internal/fleet=$id" -o json
	step gpucert fleet status "$state/pods.json" --plan "$state/jobs.json"
	kube -n "gpucert-$id" apply -f "$here/report-reader.yaml"
	kube -n "gpucert-$id" rollout status daemonset/report-reader --timeout 5m
	kube_to readers -n "gpucert-$id" get pods -l app.kubernetes.io/name=report-reader -o name
	step mkdir -p "$state/reports"
	if [ -z "$running" ]; then
		say "for each line of $state/readers in place of pod/READER:"
		fetch pod/READER
	else
		while read -r reader; do
			fetch "$reader" </dev/null
		done <"$state/readers"
	fi
	step gpucert fleet merge "$state/reports"
}

fetch() {
	kube_to report.tar -n "gpucert-$id" exec "$1" -- tar -C "/reports/$id" -cf - .
	step tar -C "$state/reports" -xf "$state/report.tar"
}

delete() {
	say "reports that 'collect' did not fetch are lost with their nodes"
	kube delete namespace --ignore-not-found "gpucert-$id"
	pool_delete
	step rm "$state/id"
}

usage() {
	cat <<E2
usage: $0 [--run] STAGE [ARGUMENT of gpucert run...]

Prints the commands of a stage; with --run each is run after it is printed, and the first failure ends the script.

  create           a new node pool with GPUs (costs money)
  create-windows   the same with Windows (costs money; not on GKE)
  certify          Jobs that run gpucert on the nodes of the pool
  collect          their states, the reports, and all reports merged
  delete           the pool that 'create' made, and the namespace that 'certify' made; nothing else

Variables: $needs
           STATE (gpucert-$cloud): the folder for lists and reports, and for the name of what was made
E2
	exit "$1"
}

main() {
	say "not yet verified: nobody has run these commands on $(echo "$cloud" | tr '[:lower:]' '[:upper:]') yet"
	[ "${1-}" != --run ] || { running=1 && shift; }
	state=${STATE:-gpucert-$cloud}
	stage=${1-}
	[ $# -eq 0 ] || shift
	# shellcheck disable=SC2086 # names without spaces
	case $stage in
	certify) require $variables IMAGE ;;
	create | create-windows | collect | delete) require $variables ;;
	--help) usage 0 ;;
	*) usage 2 >&2 ;;
	esac
	[ "$stage" != create-windows ] || [ -z "${no_windows-}" ] || stop "$no_windows"
	id=gxxxxx
	if [ -e "$state/id" ]; then
		id=$(cat "$state/id")
	elif [ -n "$running" ]; then
		case $stage in create*) ;; *) stop "$state/id does not exist: 'create --run' made nothing here" ;; esac
	fi

	case $stage in
	create) create pool_create ;;
	create-windows) create pool_create_windows ;;
	certify) plan "$@" ;;
	collect) collect ;;
	delete) delete ;;
	esac
}
