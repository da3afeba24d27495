#!/bin/sh
# SPDX-License-Identifier: MIT
# gpucert as a Windows program, with the WDDM plugin as one: under Wine it passes whatever needs no container, and a wrong
# plugin fails.
# usage: test_windows_run.sh BIN WINE-RUN NODE SCRIPTED-PLUGIN
. "$(dirname "$0")/lib.sh"
wine_run=$2
node=$3
scripted=$4

# The prefix of Wine is private to each run; the host's folders are not.
windows() {
	expect="$1"
	shift
	expect_exit "$expect" "$wine_run" --timeout 240 "$bin/gpucert.exe" "$@"
}

windows 0 run -j 2 --launcher process --node "$node" --out "$work/report" \
	-x registration.no-repeat -x list-and-watch.idle -x list-and-watch.no-storm
expect_says 'device-plugin-wddm.exe'
expect_report "$work/report/report.json" \
	"r.checks.filter((c) => !['pass', 'unsupported', 'not-applicable'].includes(c.outcome)).map((c) => c.id).join()" ""
for suite in registration list-and-watch allocate restart; do
	expect_report "$work/report/report.json" \
		"r.checks.filter((c) => c.id.startsWith('$suite.') && c.outcome === 'pass').length >= 6" true
done
for check in registration.arrives list-and-watch.devices-present allocate.each-and-all windows.location-path \
	restart.kubelet-restart restart.terminate restart.kill-and-return; do
	expect_report "$work/report/report.json" "outcome('$check')" pass
done

cat >"$work/wrong.json" <<'SCRIPT'
{"plugins": [{"resource": "example.com/gpu", "devices": [{"id": "gpu-0"}, {"id": "gpu-1", "health": "healthy"}],
	"accept_unknown": true}]}
SCRIPT
windows 1 run --launcher process --node "$node" --out "$work/wrong" --resource example.com/gpu \
	--plugin "'$scripted' '$work/wrong.json' {plugin-dir} {kubelet-socket}" \
	list-and-watch.health list-and-watch.ids allocate.unknown-id
expect_report "$work/wrong/report.json" "outcome('list-and-watch.health')" fail
expect_report "$work/wrong/report.json" "outcome('allocate.unknown-id')" fail
expect_report "$work/wrong/report.json" "outcome('list-and-watch.ids')" pass

# This machine as it is: the devices that Wine shows, and a system that is not called Windows alone.
windows 0 run --launcher process --out "$work/live" environment.devices registration.arrives
expect_report "$work/live/report.json" "outcome('registration.arrives')" pass
expect_report "$work/live/report.json" "/^Wine .*, Windows build reported 10\\.0\\./.test(r.environment.os.product)" true

# Attested and verified by Windows programs; Node verifies the signature, too.
windows 0 key generate "$work/vendor.key"
windows 0 attest "$work/live" --key "$work/vendor.key"
windows 0 verify "$work/live" --key "$work/vendor.key.pub"
node "$(dirname "$0")/sign.mjs" verify "$work/vendor.key.pub" "$work/live/attestation.json" ||
	complain "Node does not verify the signature"
sed -i 's/"outcome"/"Outcome"/' "$work/live/report.json"
windows 1 verify "$work/live" --key "$work/vendor.key.pub"
expect_says "tampered-report: "
windows 3 key generate "$work/vendor.key"
expect_says "no key is overwritten"

# Its report goes to a web server and comes back.
mkdir "$work/store"
mkfifo "$work/ports"
node "$(dirname "$0")/../../../reports/certificates/publish/doubles/http_store.mjs" "$work/store" >"$work/ports" &
server=$!
read -r ports <"$work/ports"
place=http://127.0.0.1:$(printf '%s' "$ports" | tr -dc 0-9)/plain/windows
windows 0 publish "$work/report" "$place"
windows 0 publish "$work/report" "$place"
expect_says '; 0 sent'
windows 0 pull "$place" --out "$work/pulled"
diff -r "$work/report" "$work/pulled" >&2 || complain "what was pulled differs"
windows 0 pull "$place" --out "$work/pulled"
expect_says '; 0 fetched'
kill $server
