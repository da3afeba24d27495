#!/bin/bash
# SPDX-License-Identifier: MIT
# test_wine_run.sh FOLDER CC: wine-run hands on arguments, stdin, exit codes and Ctrl-C, ends everything at the deadline and when
# it is killed, and keeps runs apart. FOLDER is for files of the test; CC builds Windows programs.
set -eu

folder=$1
cc=$2
here=$(cd "$(dirname "$0")" && pwd)
wine_run=$here/../wine-run
rm -rf "$folder"
mkdir -p "$folder"
cd "$folder"
"$cc" -O1 -o "subject.exe" "$here/subject.c"

fail() {
	echo "FAIL: $1" >&2
	exit 1
}

# Processes of Wine whose command line matches; the host's /proc has them all.
processes_of() {
	grep -lsaE -- "$1" /proc/[0-9]*/cmdline | wc -l
}

expect_no_processes() {
	local left=1
	for _ in $(seq 100); do # the kernel ends them; reaping takes a moment
		left=$(processes_of "$1")
		[ "$left" -eq 0 ] && return
		sleep 0.05
	done
	fail "$2: $left processes are left"
}

status=0
"$wine_run" ./subject.exe exit 0 || status=$?
if [ "$status" -eq 77 ]; then
	exit 77 # the reason is on stderr already
fi
[ "$status" -eq 0 ] || fail "exit code $status instead of 0"
for code in 1 42 255; do
	status=0
	"$wine_run" ./subject.exe exit "$code" || status=$?
	[ "$status" -eq "$code" ] || fail "exit code $status instead of $code"
done

arguments=('a b' 'q"uote' '' "end\\" '--timeout' '*' 'ü' '$HOME')
printf '[%s]\n' "${arguments[@]}" >wanted.txt
"$wine_run" --timeout 300 -- ./subject.exe arguments "${arguments[@]}" | tr -d '\r' >seen.txt
diff wanted.txt seen.txt || fail "arguments changed"

[ "$(printf 'one\ntwo\n' | "$wine_run" ./subject.exe copy | tr -d '\r')" = "$(printf 'one\ntwo')" ] || fail "stdin is not handed on"

status=0
timeout 300 "$wine_run" ./subject.exe crash 2>/dev/null || status=$?
[ "$status" -eq 5 ] || fail "a crash ended with $status instead of 5"

# PoCL brings LLVM, which would take Wine's signals over: the exit code is the program's all the same.
for _ in 1 2 3 4; do
	status=0
	"$wine_run" ./subject.exe opencl || status=$?
	[ "$status" -eq 9 ] || fail "a program that used OpenCL ended with $status instead of 9"
done

# The deadline: the program, its child and Wine's own processes are gone.
cp subject.exe deadline-subject.exe
status=0
"$wine_run" --timeout 15 ./deadline-subject.exe hang >out.txt 2>err.txt || status=$?
[ "$status" -eq 124 ] || fail "the deadline ended with $status instead of 124"
grep -q hanging out.txt || fail "the program that hangs did not get so far"
grep -q 'deadline-subject.exe did not end within 15 s' err.txt || fail "the deadline is not told: $(cat err.txt)"
expect_no_processes 'deadline-subject\.exe' "after the deadline"

# wine-run killed without a chance to clean up.
cp subject.exe killed-subject.exe
mkfifo killed.fifo
"$wine_run" ./killed-subject.exe hang >killed.fifo &
victim=$!
read -r _ <killed.fifo
kill -KILL "$victim"
wait "$victim" || :
expect_no_processes 'killed-subject\.exe' "after wine-run was killed"

# SIGTERM is Ctrl-C for the program, which ends in its own way.
mkfifo ctrl.fifo
"$wine_run" ./subject.exe ctrl >ctrl.fifo &
victim=$!
exec 5<ctrl.fifo
read -r _ <&5
kill -TERM "$victim"
status=0
wait "$victim" || status=$?
[ "$status" -eq 7 ] || fail "after SIGTERM the program ended with $status instead of 7"
read -r line <&5
[ "${line%$'\r'}" = "event 0" ] || fail "the program saw '$line' instead of Ctrl-C"
exec 5<&-

# Two runs at the same time: each has its own C: and registry, and the next one finds nothing of them.
mkfifo one.in one.out two.in two.out
"$wine_run" ./subject.exe keep one <one.in >one.out &
one=$!
"$wine_run" ./subject.exe keep two <two.in >two.out &
two=$!
exec 5>one.in 6<one.out 7>two.in 8<two.out
read -r line <&6
[ "${line%$'\r'}" = written ] || fail "first of two runs: $line"
read -r line <&8
[ "${line%$'\r'}" = written ] || fail "second of two runs: $line"
echo >&5
echo >&7
wait "$one" || fail "the first of two runs saw the other: $?"
wait "$two" || fail "the second of two runs saw the other: $?"
echo | "$wine_run" ./subject.exe keep three >/dev/null || fail "a run found what an earlier one wrote"

# Files over the prefix and a registry file are seen by the program, and are not changed by it.
mkdir -p files/drive_c/windows/temp
echo seen >files/drive_c/windows/temp/kept.txt
[ "$("$wine_run" --files files ./subject.exe keep other | tr -d '\r')" = "there already" ] || fail "--files is not seen"
printf 'Windows Registry Editor Version 5.00\r\n\r\n[HKEY_LOCAL_MACHINE\\Software\\gpucert-test]\r\n"planted"="value"\r\n' >planted.reg
"$wine_run" --registry planted.reg reg query 'HKLM\Software\gpucert-test' /v planted | grep -q 'REG_SZ *value' ||
	fail "--registry is not seen"

# DLLs that were not made are a reason to skip, said at once; a word that means none is a mistake.
status=0
GPUCERT_CACHE=$folder/empty "$wine_run" --dlls direct3d ./subject.exe exit 0 2>err.txt || status=$?
[ "$status" -eq 77 ] || fail "without the DLLs wine-run ended with $status instead of 77"
grep -q 'no direct3d: it is not in the cache; .*make-dlls.sh direct3d makes it' err.txt || fail "the reason is: $(cat err.txt)"
status=0
"$wine_run" --dlls nothing ./subject.exe exit 0 2>/dev/null || status=$?
[ "$status" -eq 2 ] || fail "DLLs that nobody makes ended with $status instead of 2"

# The program is of the session that the registry file was imported into, however late it comes: volatile keys are still there.
# Wine's server lingers for 3 s after the last program; wine-run is held for longer, from the import on.
printf 'Windows Registry Editor Version 5.00\r\n\r\n[HKEY_LOCAL_MACHINE\\HARDWARE\\DESCRIPTION\\System]\r\n"planted"="value"\r\n' >volatile.reg
# The processes of the run of whose /proc/PID/status a line matches $1.
processes_of_run() {
	local process
	for process in /proc/[0-9]*; do
		[ "$(readlink "$process/ns/pid")" = "$namespace" ] || continue
		! grep -sqE "$1" "$process/status" || echo "${process#/proc/}"
	done
}
# Stops process $1, and says whether it was not at its end already.
stopped() {
	kill -STOP "$1" || return 1
	while [ -d "/proc/$1" ]; do
		! grep -sqE '^State:[[:space:]]T' "/proc/$1/status" || return 0
		! grep -sqE '^State:[[:space:]][ZX]' "/proc/$1/status" || return 1
	done
	return 1
}
for _ in $(seq 10); do # on a busy machine the import has come and gone before it is seen
	"$wine_run" --registry volatile.reg reg query 'HKLM\HARDWARE\DESCRIPTION\System' /v planted >volatile.txt &
	victim=$!
	import=
	while [ -z "$import" ] && kill -0 "$victim" 2>/dev/null; do # until regedit runs
		import=$(grep -lsa -- "$folder/volatile.reg" /proc/[0-9]*/cmdline | xargs -r grep -lsa '^/usr/lib/wine/wine64' || :)
		sleep 0.01
	done
	import=${import%%$'\n'*}
	import=${import#/proc/}
	import=${import%/cmdline}
	namespace=$(readlink "/proc/$import/ns/pid" || :)
	holder=$([ -z "$namespace" ] || processes_of_run '^NSpid:.*[[:space:]]1$')
	[ -n "$holder" ] && stopped "$holder" && break
	holder=
	wait "$victim" || fail "a planted value is not seen"
done
[ -n "$holder" ] || fail "no import is seen"
timeout 300 tail --pid "$import" -f /dev/null
server=$(processes_of_run '^Name:[[:space:]]wineserver')
[ -z "$server" ] || timeout 6 tail --pid "$server" -f /dev/null || :
kill -CONT "$holder"
wait "$victim" || fail "the program came late and found the session's keys without what was imported"
grep -q 'REG_SZ *value' volatile.txt || fail "a program that comes late does not see the imported value: $(cat volatile.txt)"

# A display is there when asked for.
"$wine_run" --display ./subject.exe exit 0 || fail "a run with a display ended with $?"

for wrong in "--timeout x ./subject.exe" "--files /nowhere ./subject.exe" "--registry /nowhere ./subject.exe" "--unknown ./subject.exe" "./missing.exe" ""; do
	status=0
	# shellcheck disable=SC2086 # words
	"$wine_run" $wrong 2>err.txt || status=$?
	[ "$status" -eq 2 ] || fail "wine-run $wrong: exit code $status instead of 2"
	grep -q '^wine-run: ' err.txt || fail "wine-run $wrong: no reason is told"
done
echo "ok"
