#!/bin/sh
# SPDX-License-Identifier: MIT
# figures.sh SOURCE WINDOWS-BUILD LINUX-BUILD: prints the figures of the Windows programs under Wine, where the target
# "bench" of the Windows build has built everything. Exit code 1 when a figure misses its target.
#
# Private memory is what a process has that no other shares (Private_* of smaps_rollup), its program as it is packaged:
# stripped. Wine itself is a few MB in every process, so the ratio is taken of what a program adds to an empty one
# that links the same libraries.
set -eu
source=$1 windows=$2 linux=$3

wine_run=$source/containers/wine/root/wine-run
node=$source/discovery/nodes/windows-4x-tesla-t4.json
place=$(mktemp -d)
runs=
# shellcheck disable=SC2317 # the trap calls it
end() {
	for run in $runs; do
		kill "$run" 2>/dev/null || :
	done
	wait
	rm -rf "$place"
}
trap end EXIT
missed=0

# row WHAT VALUE UNIT [MOST]
row() {
	awk -v what="$1" -v value="$2" -v unit="$3" -v most="${4:-}" 'BEGIN {
		printf "%-64s %9.2f %-2s", what, value, unit
		if (most != "")
			printf " %7.2f %-2s  %s", most, unit, value <= most ? "met" : "MISSED"
		printf "\n"
		exit most != "" && value > most
	}' || missed=1
}

give_up() {
	echo "figures.sh: $1" >&2
	exit 1
}

# pid_of WORD: the process that runs a program with the word on its command line, not those who start it.
pid_of() {
	for process in /proc/[0-9]*; do
		case $({ tr '\0' ' ' <"$process/cmdline"; } 2>/dev/null) in
		*wine-run* | *"sh "*) ;;
		*"$1"*) echo "${process#/proc/}" ;;
		esac
	done
}

# private_kb WORD DIR NAME: the private memory of the process with the word on its command line, once it has made the file.
private_kb() {
	tries=0
	until [ -n "$(find "$2" -name "$3")" ]; do
		tries=$((tries + 1))
		[ "$tries" -lt 300 ] || give_up "$1 does not begin"
		sleep 0.1
	done
	sleep 1 # until its first work is done
	pid=$(pid_of "$1")
	[ -n "$pid" ] || give_up "$1 has ended"
	awk '/^Private_/ { kb += $2 } END { print kb }' "/proc/$pid/smaps_rollup"
}

cmake --install "$windows" --prefix "$place/windows" --strip >"$place/log" || give_up "$(tail -n 3 "$place/log")"
cmake --install "$linux" --prefix "$place/linux" --strip >"$place/log" || give_up "$(tail -n 3 "$place/log")"
strip=$(sed -n 's/^CMAKE_STRIP:FILEPATH=//p' "$windows/CMakeCache.txt")
"$strip" -o "$place/empty.exe" "$windows/tests/bench_empty.exe"

# memory SYSTEM RUN...: the plugin's and the empty program's private memory, in plugin_kb and empty_kb.
memory() {
	system=$1
	suffix=
	[ "$system" = linux ] || suffix=.exe
	shift
	mkdir "$place/$system-sockets"
	"$@" "$place/$system/bin/device-plugin-wddm$suffix" --plugin-dir "$place/$system-sockets" --node "$node" \
		--log-level error >"$place/$system.log" 2>&1 &
	runs="$runs $!"
	plugin_kb=$(private_kb "$place/$system-sockets" "$place/$system-sockets" '*.sock')
	if [ "$system" = linux ]; then
		"$@" "$linux/tests/bench_empty" 20000 "$place/$system-empty" &
	else
		"$@" "$place/empty.exe" 20000 "$place/$system-empty" &
	fi
	runs="$runs $!"
	empty_kb=$(private_kb "$place/$system-empty" "$place" "$system-empty")
	row "private memory, WDDM plugin, 4 devices, $system" "$(echo "$plugin_kb" | awk '{ print $1 / 1024 }')" MB
	row "private memory, empty program, $system" "$(echo "$empty_kb" | awk '{ print $1 / 1024 }')" MB
}

printf '%-64s %12s %10s\n' figure value 'at most'
memory linux
linux_kb=$((plugin_kb - empty_kb))
memory windows "$wine_run" --timeout 60 --
row "WDDM plugin beyond an empty program, Wine / Linux" \
	"$(awk -v a=$((plugin_kb - empty_kb)) -v b="$linux_kb" 'BEGIN { print a / b }')" x 2

double=$windows/discovery/tests/windows/doubles/dxcore.dll
ms=$("$wine_run" --timeout 120 -- "$windows/tests/bench_discovery.exe" "$node" "$double" | tr -d '\r') ||
	give_up "discovery of planted devices failed"
row "discovery, 4 devices with 64 files each, Wine, p50 of 31" "$ms" ms 30
row "gpudiscovery.dll, stripped" "$(stat -c %s "$place/windows/bin/gpudiscovery.dll" | awk '{ print $1 / 1024 }')" KB 400
exit "$missed"
