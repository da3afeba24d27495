# SPDX-License-Identifier: MIT
# shellcheck shell=sh
# For the end-to-end tests: sourced with the build's bin folder in $1. Ends the test at the first surprise.
set -eu

bin=$1
work=$(mktemp -d)
failures=0

# gpucert from PATH notes its process ID: a test looks at the remains of its own runs only.
mkdir "$work/.path"
touch "$work/.runs"
printf '#!/bin/sh\necho $$ >>"%s/.runs"\nexec "%s/gpucert" "$@"\n' "$work" "$bin" >"$work/.path/gpucert"
chmod +x "$work/.path/gpucert"
PATH=$work/.path:$bin:$PATH

# The search for leaks takes most of the time of a process that ends at once; unit tests have it.
export ASAN_OPTIONS="${ASAN_OPTIONS:-}:detect_leaks=0"

# steady_memory: AddressSanitizer keeps what was freed for a while, and frames of functions: to checks of a plugin's memory that is a leak.
steady_memory() {
	export ASAN_OPTIONS="${ASAN_OPTIONS:-}:quarantine_size_mb=0:thread_local_quarantine_size_kb=0:detect_stack_use_after_return=0"
}

finish() {
	status=$?
	rm -rf "$work"
	[ $status -eq 0 ] && [ "$failures" -ne 0 ] && status=1
	exit $status
}
trap finish EXIT

skip() {
	echo "skipped: $*"
	exit 77
}

complain() {
	echo "FAILED: $*" >&2
	failures=$((failures + 1))
}

# expect_exit CODE COMMAND...: its output is in $work/out and $work/err afterwards.
expect_exit() {
	wanted=$1
	shift
	code=0
	"$@" >"$work/out" 2>"$work/err" </dev/null || code=$?
	if [ $code -ne "$wanted" ]; then
		complain "exit code $code, expected $wanted: $*"
		sed 's/^/    /' "$work/err" "$work/out" | head -n 20 >&2
	fi
}

# expect_says TEXT: the last command's stderr or stdout holds it.
expect_says() {
	grep -qF -- "$1" "$work/err" "$work/out" || {
		complain "it does not say '$1':"
		sed 's/^/    /' "$work/err" "$work/out" | head -n 20 >&2
	}
}

# expect_nothing_left: no directory of a run of this test that runs no more.
expect_nothing_left() {
	for owner in /run/gpucert/*/owner.json /run/gpucert/*/*/owner.json; do
		pid=$(grep -oE '"pid": *[0-9]+' "$owner" 2>/dev/null | grep -oE '[0-9]+') || continue
		! grep -qx "$pid" "$work/.runs" || kill -0 "$pid" 2>/dev/null || [ ! -e "$owner" ] ||
			complain "left behind: $(dirname "$owner")"
	done
}

# report REPORT.json EXPRESSION: prints a JavaScript expression over the report r; outcome(id) helps.
report() {
	node -e '
		const r = JSON.parse(require("fs").readFileSync(process.argv[1]));
		const outcome = (id) => r.checks.find((c) => c.id === id)?.outcome;
		console.log(eval(process.argv[2]));' "$1" "$2"
}

# expect_report REPORT.json EXPRESSION VALUE
expect_report() {
	saw=$(report "$1" "$2")
	[ "$saw" = "$3" ] || complain "$2 is $saw, expected $3"
}
