#!/bin/sh
# SPDX-License-Identifier: MIT
# What the container of a node does. It may be killed anywhere: the report is on the node's disk before the verdict is in the
# pod's status, and the report is pushed after that. An exit code of 4 (incomplete) makes Kubernetes start the pod again.
stop=
line=
trap 'stop=1; kill "$!" 2>/dev/null' TERM INT

# A signal ends the command, which may then write its report, and not only the shell.
work() {
	"$@" &
	wait "$!"
	code=$?
	while [ -n "$stop" ] && kill -0 "$!" 2>/dev/null; do
		wait "$!"
		code=$?
	done
	[ -n "$stop" ] && [ "$code" -gt 128 ] || return 0
	# The signal ended the wait, and the command ended before anybody looked.
	wait "$!"
	set -- $?
	[ "$1" -eq 127 ] || code=$1
}

# Replaces the verdict at once: blanks cover the end of a longer one.
verdict() {
	covers=${#line}
	line=$(gpucert fleet verdict "$@" "$FLEET_OUT")
	while [ "${#line}" -lt "$covers" ]; do line="$line "; done
	printf '%s\n' "$line" 1<>"$FLEET_VERDICT"
}

push() {
	[ ! -e "$FLEET_SECRET/token" ] || set -- "$@" --token-file "$FLEET_SECRET/token"
	[ ! -e "$FLEET_SECRET/ca.crt" ] || set -- "$@" --ca-certificate "$FLEET_SECRET/ca.crt"
	ended=$code
	work gpucert publish --receipt "$FLEET_OUT/pushed.json" "$@" "$FLEET_OUT" "$FLEET_PUSH" 2>"$FLEET_LOG"
	set -- --not-pushed "$FLEET_LOG"
	[ "$code" -ne 0 ] || set -- --pushed "$FLEET_OUT/pushed.json"
	code=$ended
	verdict --exit-code "$code" "$@"
}

certify() {
	work sleep "$FLEET_DELAY"
	[ -n "$stop" ] || work gpucert fleet begin --lock 9 --plan "$FLEET_PLAN" "$FLEET_OUT" >"$FLEET_VERDICT"
	[ -z "$stop" ] || exit 4
	case $code in
	0) set -- ;; # the run ended in another pod
	4)
		work gpucert run --out "$FLEET_OUT" "$@"
		set -- --exit-code "$code"
		;;
	*) return ;;
	esac

	[ -f "$FLEET_OUT/report.json" ] || FLEET_PUSH=
	[ -z "$FLEET_PUSH" ] || set -- "$@" --not-pushed "$FLEET_LOG"
	verdict "$@"
	[ "$1" = --exit-code ] || code=${line#*\"exitCode\":}
	code=${code%%[!0-9]*}
	# shellcheck disable=SC2086 # several words
	[ -z "$FLEET_PUSH" ] || [ -n "$stop" ] || push $FLEET_PUSH_OPTIONS
}

# One pod at a time uses the folder: the next one waits for a pod that ends late.
code=3
certify "$@" 9>"${FLEET_OUT}_lock"
exit "${code:-3}"
