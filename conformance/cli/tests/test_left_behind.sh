#!/bin/sh
# SPDX-License-Identifier: MIT
# What plugins and killed runs leave behind: nothing of the machine's is lost, one check's junk does not stop the
# others, and the next run cleans up or says what stays.
. "$(dirname "$0")/lib.sh"
[ "$(id -u)" -eq 0 ] || skip "needs root"
r=$work/report/report.json

# wait_for COMMAND...: until it succeeds, for at most 2 minutes.
wait_for() {
	tries=0
	until "$@"; do
		tries=$((tries + 1))
		[ $tries -lt 1200 ] || {
			complain "waited in vain for: $*"
			return 0
		}
		sleep 0.1
	done
}

run_with() {
	plugin=$1
	shift
	gpucert run --launcher process --timeout-percent 10 --out "$work/report" --plugin "$plugin" "$@"
}

# A plugin that mounts a folder of the host in its directory.
mkdir "$work/precious"
echo precious >"$work/precious/file"
cat >"$work/mounts.sh" <<'EOF'
mkdir "$1/mnt" && mount --bind "$2" "$1/mnt"
exec sleep 600
EOF
expect_exit 1 run_with "sh $work/mounts.sh {plugin-dir} $work/precious" registration.arrives environment.devices
[ -f "$work/precious/file" ] || complain "the host's files are gone"
expect_report "$r" "r.checks.filter((c) => c.events.some((e) => e.kind === 'mounts-undone')).length" 1
! grep -q "$work/precious" /proc/self/mountinfo || complain "the mount is still there"

# A path longer than PATH_MAX.
cat >"$work/deep.sh" <<'EOF'
cd "$1" && i=0
while [ $i -lt 600 ]; do mkdir "a-folder-with-a-long-name-$i" && cd -P "a-folder-with-a-long-name-$i" || break; i=$((i + 1)); done
exec sleep 600
EOF
expect_exit 1 run_with "sh $work/deep.sh {plugin-dir}" registration.arrives environment.devices
expect_report "$r" "r.checks.map((c) => c.outcome).sort().join()" fail,pass
expect_report "$r" "r.checks.some((c) => c.events.some((e) => e.kind === 'left-behind'))" false

# A file that cannot be removed: the run goes on and names it, and so does the next run.
cat >"$work/immutable.sh" <<'EOF'
echo "$1" >"$2"
touch "$1/stays" && chattr +i "$1/stays"
exec sleep 600
EOF
touch "$work/probe"
if chattr +i "$work/probe" 2>/dev/null && chattr -i "$work/probe"; then
	expect_exit 1 run_with "sh $work/immutable.sh {plugin-dir} $work/where" registration.arrives environment.devices
	stays=$(cat "$work/where")/stays
	[ -f "$stays" ] || complain "$stays is gone"
	expect_says "/dp/stays: Operation not permitted"
	expect_report "$r" "r.checks.some((c) => c.events.some((e) => e.kind === 'left-behind'))" true
	expect_exit 0 gpucert run --launcher process --out "$work/report" environment.devices
	expect_says "stays: Operation not permitted"
	find "$(dirname "$(dirname "$(dirname "$stays")")")" -name stays -exec chattr -i {} +
	expect_exit 0 gpucert run --launcher process --out "$work/report" environment.devices
	[ ! -e "$stays" ] || complain "$stays was not removed when it could be"
fi

# A run without containers that was killed: the next one removes its folder.
rm -f "$work/where"
gpucert run --quiet --launcher process --out "$work/killed" \
	--plugin "sh -c 'echo {plugin-dir} >$work/where; exec sleep 600'" registration.arrives 2>/dev/null &
run=$!
wait_for test -s "$work/where"
left=$(cat "$work/where")
[ -d "$left" ] || complain "$left was not there"
kill -KILL $run
wait $run 2>/dev/null || true
expect_exit 0 gpucert run --launcher process --out "$work/report" environment.devices
[ ! -e "$left" ] || complain "$left is left behind"

# A run that was killed while it was attached: the next run, which is not, puts the node's sockets back.
mkdir "$work/plugins"
gpucert kubelet --plugin-dir "$work/plugins" >"$work/kubelet.log" 2>&1 &
kubelet=$!
wait_for grep -q '"event":"started"' "$work/kubelet.log"
live=$(stat -c %i "$work/plugins/kubelet.sock")
gpucert run --quiet --attach "$work/plugins" --launcher process --out "$work/killed" registration.arrives 2>/dev/null &
run=$!
wait_for test -S "$work/plugins/.gpucert-moved/kubelet.sock"
kill -KILL $run
wait $run 2>/dev/null || true
wait_for sh -c "! pgrep -f '[r]un-check registration.arrives.*$work' >/dev/null"
expect_exit 0 gpucert run --launcher process --out "$work/report" environment.devices
[ "$(stat -c %i "$work/plugins/kubelet.sock")" = "$live" ] || complain "kubelet.sock is not the live kubelet's"
[ ! -e "$work/plugins/.gpucert-moved" ] || complain ".gpucert-moved is left behind"
kill $kubelet
wait $kubelet 2>/dev/null || true

# Two runs with one folder: the second is refused and changes nothing.
rm -f "$work/where"
gpucert run --quiet --launcher process --timeout-percent 1000 --out "$work/shared" \
	--plugin "sh -c 'echo {plugin-dir} >$work/where; exec sleep 600'" registration.arrives >/dev/null 2>&1 &
run=$!
wait_for test -s "$work/where"
expect_exit 2 gpucert run --launcher process --out "$work/shared" environment.devices
expect_says "another run is writing to $work/shared"
kill -TERM $run
code=0
wait $run || code=$?
[ $code -eq 4 ] || complain "the first run ends with $code"
expect_report "$work/shared/report.json" "r.checks.map((c) => c.id).join()" registration.arrives

# What a run did not write is not its to replace.
mkdir -p "$work/foreign/evidence/case42"
echo precious >"$work/foreign/evidence/case42/doc.txt"
expect_exit 2 gpucert run --launcher process --out "$work/foreign" environment.devices
expect_says "$work/foreign/evidence exists and there is no journal of a run"
[ -f "$work/foreign/evidence/case42/doc.txt" ] || complain "a foreign file is gone"
