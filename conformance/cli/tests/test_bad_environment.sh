#!/bin/sh
# SPDX-License-Identifier: MIT
# Environments and plugins that are wrong: each ends in a clear error or verdict.
. "$(dirname "$0")/lib.sh"
[ "$(id -u)" -eq 0 ] || skip "needs root"
command -v containerd >/dev/null || skip "needs containerd"
r=$work/report/report.json

# Recorded nodes that cannot be read.
expect_exit 3 gpucert run --node "$work/missing.json" --out "$work/report"
expect_says "missing.json"
echo '{"devices": [{"id": 5}]}' >"$work/bad.json"
expect_exit 3 gpucert run --node "$work/bad.json" --out "$work/report"
expect_says "bad.json"
printf '\377\376{' >"$work/garbage.json"
expect_exit 3 gpucert run --node "$work/garbage.json" --out "$work/report"

# A name that a shell would trip over.
"$bin/gpu-discovery" --record "$work/it's a \"node\".json" >/dev/null
expect_exit 0 gpucert run --launcher process --node "$work/it's a \"node\".json" --out "$work/report" registration.arrives

# A resource that the plugin does not offer is the caller's mistake: the reason names those that it does.
expect_exit 3 gpucert run --launcher process --resource example.com/none --timeout-percent 10 --out "$work/report" registration.accepted
expect_says "the plugin does not offer 'example.com/none' (--resource); it offers gpucert.internal/"

# An attached plugin's directory is put right although the check that used it was interrupted.
mkdir "$work/plugins"
"$bin/gpucert" kubelet --plugin-dir "$work/plugins" >"$work/kubelet.log" 2>&1 &
kubelet=$!
"$bin/device-plugin-gpu" --plugin-dir "$work/plugins" >"$work/plugin.log" 2>&1 &
plugin=$!
tries=0
until grep -q '"event":"devices"' "$work/kubelet.log" || [ $tries -eq 1200 ]; do
	tries=$((tries + 1))
	sleep 0.1
done
live=$(stat -c %i "$work/plugins/kubelet.sock")
"$bin/gpucert" run --quiet --attach "$work/plugins" --launcher process --out "$work/report" registration.no-repeat &
run=$!
until [ -d "$work/plugins/.gpucert-moved" ] || [ $tries -ge 2400 ]; do
	tries=$((tries + 1))
	sleep 0.1
done
kill -INT $run
code=0
wait $run || code=$?
[ $code -eq 4 ] || complain "an interrupted run ends with $code"
[ "$(stat -c %i "$work/plugins/kubelet.sock")" = "$live" ] || complain "kubelet.sock is not the live kubelet's"
[ ! -e "$work/plugins/.gpucert-moved" ] || complain ".gpucert-moved is left behind"
kill $plugin $kubelet
wait $plugin $kubelet 2>/dev/null || true

# A plugin that takes kubelet.sock away is told so, and nobody else is blamed.
expect_exit 1 gpucert run --launcher process --timeout-percent 10 --out "$work/report" \
	--plugin "sh -c 'rm {kubelet-socket}; exec sleep 60'" registration.arrives
expect_says "the plugin removed kubelet.sock"

# Malformed configuration of the plugin: it ends at once and says where.
printf 'multitenancy: [\n' >"$work/config.yaml"
expect_exit 1 gpucert run --launcher process --out "$work/report" --timeout-percent 20 \
	--plugin "'$bin/device-plugin-gpu' --plugin-dir {plugin-dir} --config '$work/config.yaml'" registration.arrives
expect_report "$r" "outcome('registration.arrives')" fail
grep -rq "config.yaml" "$work/report/evidence" || complain "the evidence does not name config.yaml"

# Plugins that are none.
expect_exit 1 gpucert run --launcher process --out "$work/report" --timeout-percent 20 --plugin "true" registration.arrives
expect_says "exited with code 0"
expect_exit 1 gpucert run --launcher process --out "$work/report" --timeout-percent 20 \
	--plugin "head -c 65536 /dev/urandom" registration.arrives
expect_report "$r" "outcome('registration.arrives')" fail
LC_ALL=C grep -q '[[:cntrl:]]' "$work/out" && complain "control characters reached the terminal"
expect_exit 3 gpucert run --launcher process --out "$work/report" --plugin "$work/no-such-plugin" registration.arrives
expect_report "$r" "outcome('registration.arrives')" broken

# The first failure ends the run: that it failed is what counts, not that the rest did not run.
expect_exit 1 gpucert run --launcher process --out "$work/report" --timeout-percent 20 --plugin "true" --fail-fast \
	registration.arrives api.vulkan
expect_report "$r" "r.totals.outcome.notrun" 1
expect_report "$r" "r.run.state" complete

# Nobody can read what is printed: the environment is broken, no check failed.
code=0
gpucert run --out "$work/report" environment.devices >/dev/full 2>"$work/err" || code=$?
[ $code -eq 3 ] || complain "a full standard output ends with $code"
expect_says "standard output"

# A plugin that never registers: one cause, told once, and no check waits for what cannot come.
expect_exit 1 gpucert run --out "$work/report" --plugin "tail -f /dev/null"
expect_says "not run because of it"
expect_report "$r" "outcome('registration.arrives')" fail
expect_report "$r" "r.totals.outcome.fail + r.totals.outcome.timeout" 1
expect_report "$r" "outcome('api.vulkan')" notrun
expect_report "$r" "r.checks.filter((c) => c.outcome === 'notrun').every((c) => c.cause === 'registration.arrives' && c.reason === 'registration.arrives failed')" true
expect_exit 1 gpucert run --launcher process --timeout-percent 10 --out "$work/report" --plugin "tail -f /dev/null" api.vulkan
expect_report "$r" "outcome('api.vulkan')" fail

# No container runtime, by name and by chance.
expect_exit 2 "$bin/gpucert" run --containerd /nonexistent/containerd --out "$work/report" environment
expect_says "/nonexistent/containerd"
expect_exit 3 env PATH="/nonexistent" "$bin/gpucert" run --launcher containerd --out "$work/report" environment
expect_says "containerd"
expect_exit 3 gpucert run --cri "unix://$work/none.sock" --out "$work/report" environment
expect_says "none.sock"

# An image import that fails.
mkdir "$work/path"
printf '#!/bin/sh\necho "ctr: no space for images" >&2\nexit 1\n' >"$work/path/ctr"
chmod +x "$work/path/ctr"
expect_exit 3 env PATH="$work/path:$PATH" gpucert run --launcher containerd --out "$work/report" environment
expect_says "no space for images"
expect_nothing_left

# A container runtime that dies in mid-run: the check that was running says so, and nothing stays.
gpucert run --quiet --launcher containerd --out "$work/report" isolation 2>"$work/err" &
run=$!
tries=0
until [ -d "$work/report/evidence/isolation.no-allocation" ] || [ $tries -eq 1200 ]; do
	tries=$((tries + 1))
	sleep 0.1
done
kill -KILL "$(pgrep -P $run -x containerd)"
code=0
wait $run || code=$?
[ $code -eq 3 ] || complain "a run whose runtime died ends with $code"
expect_report "$r" "r.checks.some((c) => c.outcome === 'crash')" false
expect_report "$r" "r.checks.some((c) => c.outcome === 'broken')" true
expect_nothing_left

# No root: what needs containers is unsupported and says why. The programs are copied to where any user may read.
chmod 755 "$work"
mkdir -m 777 "$work/user"
mkdir -p "$work/copy/lib"
cp -R "$bin" "$bin/../libexec" "$work/copy"
cp -P "$bin"/../lib/*.so* "$work/copy/lib"
expect_exit 0 setpriv --reuid 65534 --regid 65534 --clear-groups \
	"$work/copy/bin/gpucert" run --out "$work/user/report" environment isolation registration.version
expect_report "$work/user/report/report.json" "outcome('isolation.no-allocation')" unsupported
expect_report "$work/user/report/report.json" "outcome('registration.version')" pass
expect_says "PARTIAL"
expect_says "containers need root"
expect_report "$work/user/report/report.json" \
	"r.requirements.filter((q) => ['API-01', 'ENV-01', 'ISO-01'].includes(q.id)).map((q) => q.verdict).join()" \
	not-tested,not-tested,not-tested
expect_exit 1 setpriv --reuid 65534 --regid 65534 --clear-groups \
	"$work/copy/bin/gpucert" run --require-conformant --out "$work/user/report" environment isolation registration.version

# A runtime that is there and does not work: nothing is proven, whatever else would pass.
for script in 'exit 1' 'kill -SEGV $$'; do
	mkdir -p "$work/broken"
	printf '#!/bin/sh\n%s\n' "$script" >"$work/broken/containerd"
	chmod +x "$work/broken/containerd"
	expect_exit 3 env PATH="$work/broken:$PATH" gpucert run --out "$work/report" environment.devices
	expect_says "containerd"
	expect_report "$r" "r.verdict.exitCode" 3
	grep -q 'classname="gpucert.conformance"' "$work/report/junit.xml" || complain "junit.xml is silent"
	grep -q '<error type="[a-z]*" message' "$work/report/junit.xml" || complain "junit.xml of a broken run has no error"
done

# A full disk, where the journal and the evidence go.
mkdir "$work/full"
mount -t tmpfs -o size=64k,mode=755 none "$work/full" || skip "cannot mount a tmpfs"
expect_exit 3 gpucert run --launcher process --out "$work/full" registration list-and-watch allocate
expect_says "no space left on device"
umount "$work/full"
