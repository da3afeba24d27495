#!/bin/sh
# SPDX-License-Identifier: MIT
# Installs what is missing, builds and tests. usage: ./test.sh [quick | ci | all | vm | cluster | PRESET...]
#
# Every test runs once, where it proves most: programs built for Windows under Wine (preset windows), everything that a sanitizer
# sees with sanitizers (asan), and the rest without (dev: the sources, the installed tree, memory, whole runs, plugins that conform,
# and of each check a plugin that it must fail).
#   ci       also every row of the tables of wrong plugins, with sanitizers a sample of them, a run under Wine in containers, the
#            tutorials, and trees that are built anew
#   all      also what takes long: the virtual machine node, a real Kubernetes (which is built first, once, 10 to 15 minutes), other
#            generations of containerd, the Wine node whole, static analysis, and whole tables with sanitizers
#   quick    the unit and lint tests of dev
#   vm, cluster   the virtual machine node; the tests on a real Kubernetes
#   PRESET   its tests, whole
# Presets are built one after another; what runs under Wine is tested first (windows, and wine-node of dev), then dev and asan, each
# pair side by side, where those with sanitizers take the time that others leave. A test that failed beside the others runs once
# more by itself, which says whether load failed it. The output ends with the ten slowest tests and ctest's summary of each preset,
# failed ones last.
set -eu

cd "$(dirname "$0")"
case ${1:-} in
-*)
	sed -n '3,/^set/s/^# \{0,1\}//p' test.sh
	[ "$1" = -h ] || [ "$1" = --help ] || exit 2
	exit
	;;
esac
./cmake/install-packages.sh test
if [ -z "${CMAKE_C_COMPILER_LAUNCHER:-}" ] && command -v ccache >/dev/null; then
	export CMAKE_C_COMPILER_LAUNCHER=ccache
fi
logs=$(mktemp -d)
trap 'rm -rf "$logs"' EXIT
# What runs in the background does not hear the terminal.
trap 'rm -rf "$logs"; kill -TERM 0' INT

prepare_wine() {
	./cmake/windows-dependencies/make-dependencies.sh >/dev/null
	wine_sources=$PWD/containers/wine/root
	# shellcheck source=containers/wine/root/cache.sh
	. "$wine_sources/cache.sh"
	if [ ! -d "$wine_root" ]; then
		echo "Making the root folder for Wine: once, about 1 minute"
		"$wine_sources/make-root.sh" --check >/dev/null || [ $? -eq 77 ]
	fi
}

build() {
	[ "$1" != windows ] || prepare_wine
	echo "== $1: build"
	if ! { cmake --preset "$1" && cmake --build --preset "$1"; } >"$logs/build" 2>&1; then
		cat "$logs/build" >&2
		exit 1
	fi
}

# start_tests NAME PRESET NICENESS OPTIONS...: in the background.
start_tests() {
	name=$1
	preset=$2
	niceness=$3
	shift 3
	{
		status=0
		nice -n "$niceness" ctest --preset "$preset" --no-tests=error --no-label-summary "$@" 2>&1 || status=$?
		echo $status >"$logs/$name.status"
	} | tee "$logs/$name.log" | sed -u "s/^/$name: /" &
}

# show_failed LOG: the last lines of each failed test, once more.
show_failed() {
	awk '
		function show(i) {
			for (i = count > 8 ? count - 7 : 1; i <= count; i++)
				print lines[i]
			count = failed = 0
		}
		/^ *[0-9]+\/[0-9]+ Test +#/ {
			show()
			failed = /\*\*\*(Failed|Timeout|Exception)/
			if (failed)
				print
			next
		}
		/tests passed, / { exit }
		failed && NF && !/^ *Start +[0-9]+:/ { lines[++count] = $0 }
		END { show() }
	' "$1"
}

# failed_tests LOG: as an expression for ctest -R.
failed_tests() {
	sed -n '/^The following tests FAILED:/,$s/^[[:space:]]*[0-9]* - \([^ ]*\) (.*/\1/p' "$1" | paste -s -d '|'
}

# Most tests wait more than they compute.
jobs=$(nproc)
if [ "${1:-}" = quick ]; then
	build dev
	ctest --preset quick -j $((jobs * 2))
	exit
fi
case ${1:-} in
vm | cluster)
	build dev
	ctest --preset dev -L "^$1\$"
	exit
	;;
esac
left_out='^(ci|long)$' sanitized='lint|install|unsanitized'
case ${1:-} in
ci)
	shift
	left_out='^(everyday|long)$'
	;;
all)
	shift
	left_out='^everyday$' sanitized='lint|install'
	;;
esac
presets=${*:-windows dev asan}
for preset in $presets; do
	build "$preset"
done
# Each call into Wine's server waits for a processor: what runs under Wine is tested before the others start.
names=$presets
unsanitized='^(lint|install|unsanitized)$'
if [ $# -gt 0 ]; then
	for preset in $presets; do
		start_tests "$preset" "$preset" 0 -j "$jobs"
		[ "$preset" != windows ] || wait
	done
else
	names="wine-node $names"
	start_tests windows windows 0 -j $((jobs * 2))
	start_tests wine-node dev 0 -j 1 -L "$unsanitized" -L '^wine$' -LE "$left_out"
	wait
	start_tests dev dev 0 -j $((jobs * 4)) -L "$unsanitized" -LE "$left_out|^wine\$"
	start_tests asan asan 10 -j $((jobs * 3)) -LE "$left_out|^($sanitized)\$"
fi
wait

echo "== the ten slowest tests"
for preset in $names; do
	sed -n "s/.*Test *#[0-9]*: \([^ ]*\) .* \([0-9.]*\) sec\$/\2 s  $preset \1/p" "$logs/$preset.log"
done | sort -rn | head -n 10

failed=
at_second=
for name in $names; do
	[ "$(cat "$logs/$name.status")" -ne 0 ] || continue
	tests=$(failed_tests "$logs/$name.log")
	if [ -n "$tests" ]; then
		show_failed "$logs/$name.log"
		echo "== $name: once more, by themselves: $tests"
		preset=$name
		[ "$name" != wine-node ] || preset=dev
		start_tests "$name" "$preset" 0 -j 1 -R "^($tests)\$"
		wait
	fi
	if [ "$(cat "$logs/$name.status")" -eq 0 ]; then
		at_second="$at_second $tests"
	else
		failed="$failed $name"
	fi
done
[ -z "$at_second" ] || echo "== failed beside the others, passed by themselves:$at_second"
for preset in $names; do
	case " $failed " in
	*" $preset "*) ;;
	*) echo "== $preset" && sed -n '/tests passed/,$p' "$logs/$preset.log" ;;
	esac
done
for preset in $failed; do
	show_failed "$logs/$preset.log"
	echo "== $preset" && sed -n '/tests passed/,$p' "$logs/$preset.log"
done
[ -z "$failed" ]
