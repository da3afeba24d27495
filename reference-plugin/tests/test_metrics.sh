#!/bin/sh
# SPDX-License-Identifier: MIT
# usage: test_metrics.sh BIN SOURCE
# Metrics and health of the reference plugin as curl sees them: on a port and on a Unix socket, without a kubelet and with one.
set -eu

bin=$1
source=$2
work=$(mktemp -d)
plugin=
kubelet=
failures=0
finish() {
	status=$?
	for process in $plugin $kubelet; do
		kill "$process" 2>/dev/null || true
	done
	wait
	rm -rf "$work"
	[ $status -ne 0 ] || [ "$failures" -eq 0 ] || status=1
	exit $status
}
trap finish EXIT
complain() {
	echo "FAILED: $*" >&2
	failures=$((failures + 1))
}
command -v curl >/dev/null || {
	echo "skipped: curl is not installed"
	exit 77
}

# start ARGUMENT...: the plugin, until it serves metrics.
start() {
	: >"$work/log" # of the last one
	"$bin/device-plugin-gpu" --plugin-dir "$work/plugins" --node "$source/discovery/nodes/linux-2x-tesla-t4.json" "$@" 2>"$work/log" &
	plugin=$!
	until grep -q "metrics and health at" "$work/log"; do
		kill -0 "$plugin" 2>/dev/null || {
			cat "$work/log" >&2
			exit 1
		}
		sleep 0.1
	done
}
stop() {
	kill "$plugin"
	wait "$plugin" || complain "the plugin ended with $?"
	plugin=
}
# get STATUS URL [OPTION...]: the body is in $work/body.
get() {
	wanted=$1
	url=$2
	shift 2
	status=$(curl -s --max-time 20 -o "$work/body" -w '%{http_code}' "$@" "$url") || true
	[ "$status" = "$wanted" ] || complain "$url: status $status, expected $wanted: $(cat "$work/body")"
}
has() {
	grep -qF -- "$1" "$work/body" || {
		complain "the answer lacks '$1':"
		cat "$work/body" >&2
	}
}

# Off unless it is asked for, and only for this machine.
"$bin/device-plugin-gpu" --print-config | grep -q '^metricsAddress  *-  (default)' || complain "it is not off by default"
DEVICE_PLUGIN_GPU_METRICS_ADDRESS=unix:/x "$bin/device-plugin-gpu" --print-config |
	grep -q '^metricsAddress  *unix:/x  (environment DEVICE_PLUGIN_GPU_METRICS_ADDRESS)' || complain "the environment does not set it"
for address in 0.0.0.0:9478 127.0.0.1 127.0.0.1:x localhost:99999 '[::]:80' unix:; do
	code=0
	"$bin/device-plugin-gpu" --plugin-dir "$work" --node "$source/discovery/nodes/linux-2x-tesla-t4.json" \
		--metrics-address "$address" 2>"$work/log" || code=$?
	[ "$code" -eq 1 ] || complain "$address: exit code $code"
done

# Without a kubelet: alive, healthy for a while, not ready.
mkdir "$work/plugins"
start --metrics-address 127.0.0.1:0
base=$(grep -o 'http://127.0.0.1:[0-9]*' "$work/log")
get 200 "$base/livez"
get 200 "$base/healthz"
has ok
get 503 "$base/readyz"
has "gpucert.internal/display: the kubelet has not watched it for"

get 404 "$base/"
get 404 "$base/$(head -c 2000 /dev/zero | tr '\0' a)"
get 405 "$base/metrics" -X POST -d x=y
get 431 "$base/metrics" -H "X: $(head -c 5000 /dev/zero | tr '\0' a)"
get 200 "$base/metrics" -I
[ ! -s "$work/body" ] || grep -q '^HTTP/1.1 200 OK' "$work/body" || complain "HEAD has a body"
get 200 "$base/metrics?x=y"
has 'gpucert_device_plugin_kubelet_connected{resource="gpucert.internal/display"} 0'
has 'gpucert_device_plugin_devices{resource="gpucert.internal/compute",health="healthy"}'
has 'gpucert_device_plugin_build_info{program="device-plugin-gpu",version="'
! grep -qvE '^(# (HELP|TYPE) [a-z_:]+ .+|[a-z_]+\{[a-z]+="[^"]*"(,[a-z]+="[^"]*")?\} [0-9]+)$' "$work/body" || complain "a line is not of Prometheus' text format"
# Connections that say nothing do not keep others out for ever.
node - "${base##*:}" <<'END' &
const net = require('net');
for (let i = 0; i < 40; i++)
	net.connect(Number(process.argv[2]), '127.0.0.1').on('error', () => {}).on('close', () => {});
setTimeout(() => process.exit(0), 3000);
END
idle=$!
sleep 1
wait "$idle"
get 200 "$base/livez" --retry 10 --retry-all-errors

# In a rolling update a second instance serves the kubelet before it has the address, and has it when the first one ends.
: >"$work/log.second"
"$bin/device-plugin-gpu" --plugin-dir "$work/plugins" --node "$source/discovery/nodes/linux-2x-tesla-t4.json" \
	--metrics-address "${base#http://}" 2>"$work/log.second" &
second=$!
until grep -q "${base#http://} is in use: retrying" "$work/log.second"; do
	kill -0 "$second" || exit 1
	sleep 0.1
done
stop
plugin=$second
until grep -q "metrics and health at $base/metrics" "$work/log.second"; do
	kill -0 "$second" || exit 1
	sleep 0.1
done
get 200 "$base/livez"
stop

# With a kubelet, on a Unix socket, which a plugin that was killed left behind.
start --metrics-address "unix:$work/metrics.sock"
[ "$(stat -c %a "$work/metrics.sock")" = 600 ] || complain "others may connect to the socket"
kill -9 "$plugin"
wait "$plugin" 2>/dev/null || true
start --metrics-address "unix:$work/metrics.sock"
"$bin/gpucert" kubelet --plugin-dir "$work/plugins" --allocate gpucert.internal/compute=1 >"$work/events" 2>&1 &
kubelet=$!
for _ in $(seq 300); do
	get 200 http://plugin/metrics --unix-socket "$work/metrics.sock"
	! grep -qF 'gpucert_device_plugin_allocations_total{resource="gpucert.internal/compute"} 1' "$work/body" || break
	sleep 0.2
done
has 'gpucert_device_plugin_allocations_total{resource="gpucert.internal/compute"} 1'
has 'gpucert_device_plugin_registrations_total{resource="gpucert.internal/compute"} 1'
has 'gpucert_device_plugin_kubelet_connected{resource="gpucert.internal/compute"} 1'
has 'gpucert_device_plugin_list_and_watch_streams{resource="gpucert.internal/compute"} 1'
has 'gpucert_device_plugin_devices{resource="gpucert.internal/compute",health="healthy"} 2'
has 'gpucert_device_plugin_allocation_errors_total{resource="gpucert.internal/compute"} 0'
until_ready() { # STATUS
	for _ in $(seq 100); do
		status=$(curl -s -o /dev/null -w '%{http_code}' --unix-socket "$work/metrics.sock" http://plugin/readyz) || true
		[ "$status" != "$1" ] || break
		sleep 0.2
	done
	get "$1" http://plugin/readyz --unix-socket "$work/metrics.sock"
}
until_ready 200
kill "$kubelet"
wait "$kubelet" || true
kubelet=
until_ready 503 # it notices the end a moment later
get 200 http://plugin/healthz --unix-socket "$work/metrics.sock"
stop
[ ! -e "$work/metrics.sock" ] || complain "the socket is left behind"

# The systemd unit, with the program that was built here.
if command -v systemd-analyze >/dev/null; then
	sed "s|/usr/bin/device-plugin-gpu|$bin/device-plugin-gpu|" "$source/reference-plugin/deploy/device-plugin-gpu.service" >"$work/device-plugin-gpu.service"
	systemd-analyze verify "$work/device-plugin-gpu.service" >"$work/said" 2>&1 || complain "systemd-analyze verify: $(cat "$work/said")"
	! grep -F "$work/device-plugin-gpu.service" "$work/said" || complain "systemd-analyze verify warns"
fi
