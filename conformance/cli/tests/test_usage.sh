#!/bin/sh
# SPDX-License-Identifier: MIT
# What people type wrongly, and what they ask for.
. "$(dirname "$0")/lib.sh"

expect_exit 0 gpucert --help
expect_says "Usage"
expect_exit 0 gpucert --version
expect_exit 2 gpucert
expect_exit 2 gpucert rnu
expect_says "run"
expect_exit 2 gpucert run --plugn x
expect_says "plugin"
expect_exit 2 gpucert run no-such-check
expect_says "no check matches 'no-such-check'"
expect_exit 2 gpucert run --exclude isolatoin
expect_says "no check matches 'isolatoin'"
expect_exit 2 gpucert list --exclude isolatoin
expect_exit 2 gpucert run --attach plugins
expect_says "not an absolute path"
expect_exit 2 gpucert run --plugin a --attach /tmp
expect_says "exclude each other"
expect_exit 2 gpucert run --fail-device false
expect_says "--restore-device"
expect_exit 2 gpucert run --optional-call Allocate
expect_says "--optional-call: got 'Allocate', expected GetPreferredAllocation or PreStartContainer"
expect_exit 2 gpucert run --containerd /usr/bin/containerd --cri unix:///run/a.sock
expect_says "--cri and --containerd exclude each other"
expect_exit 2 gpucert run --containerd /usr/bin/containerd --launcher process
expect_says "exclude each other"
for directory in etc/cdi '/etc/"cdi' '/etc\cdi'; do
	expect_exit 2 gpucert run --cdi-dir "$directory"
	expect_says "--cdi-dir: '$(printf '%s' "$directory" | sed 's/\\/&&/')' is not an absolute path, or holds"
done
expect_exit 2 gpucert run --cri tcp://127.0.0.1:1
expect_says "--cri"
expect_exit 2 gpucert run --image example.org/probe:1
expect_says "--image needs --cri"
expect_exit 2 gpucert run --runtime-handler runc --launcher process
expect_says "--runtime-handler and --launcher process exclude each other"
if [ "$(id -u)" -eq 0 ] && command -v containerd >/dev/null; then
	mkdir "$work/kept"
	gpucert run --quiet --launcher process --out "$work/kept" registration.version
	cp "$work/kept/report.json" "$work/before.json"
	expect_exit 2 gpucert run --runtime-handler other --out "$work/kept"
	expect_says "--runtime-handler other: a private containerd has runc"
	expect_exit 2 gpucert run --containerd /nonexistent --out "$work/kept"
	expect_says "--containerd: "
	cmp "$work/before.json" "$work/kept/report.json" || complain "a wrong option replaced a report"
fi
expect_exit 2 gpucert run --profile 1.20

# Plugin profiles: one of one's own, what stands before it, what is wrong in one, and those that are installed.
cat >"$work/plugin.json" <<'E2'
{"plugins": [{"resource": "example.com/gpu", "socket": "gpu.sock", "devices": [{"id": "a"}]}]}
E2
cat >"$work/own.yaml" <<E2
source: this test
command: sh -c 'echo "strategy \$STRATEGY" >&2; exec "$bin/../tests/scripted-plugin" "$work/plugin.json" "\$DEVICE_PLUGIN_DIR"'
environment:
  STRATEGY: mixed
E2
export GPUCERT_PLUGIN_PROFILE="$work/own.yaml"
expect_exit 0 gpucert run --quiet --launcher process --out "$work/own" registration.arrives
grep -rqF "strategy mixed" "$work/own/evidence" || complain "the plugin did not get the profile's environment"
expect_exit 0 env STRATEGY=single gpucert run --quiet --launcher process --out "$work/single" registration.arrives
grep -rqF "strategy single" "$work/single/evidence" || complain "the profile replaced a variable that was set"
expect_exit 1 gpucert run --quiet --launcher process --plugin "sh -c 'exit 7'" --out "$work/replaced" registration.arrives
unset GPUCERT_PLUGIN_PROFILE
printf 'source: a\ncommand: b\nprivateMounts: 1\n' >"$work/bad.yaml"
expect_exit 2 gpucert run --plugin-profile "$work/bad.yaml"
expect_says "gpucert run: --plugin-profile: $work/bad.yaml:3: privateMounts: expected true or false"
expect_exit 2 gpucert run --plugin-profile nvidai
expect_says "nvidai: there is no such file, and none of that name is installed"
for file in "$bin"/../share/gpucert/profiles/*.yaml; do
	expect_exit 0 gpucert run --dry-run --launcher process --plugin-profile "$(basename "$file" .yaml)" --attach "$work" registration
done
expect_exit 0 gpucert list
expect_says "isolation.single-device"
expect_exit 0 gpucert list --json level:must
node -e 'const a = JSON.parse(require("fs").readFileSync(process.argv[1])); if (a.length < 10) process.exit(1)' "$work/out" ||
	complain "list --json is no JSON array of checks"
expect_exit 0 gpucert show isolation.single-device
expect_says "ISO-02"
expect_exit 2 gpucert show isolation.single-devise
expect_says "did you mean 'isolation.single-device'?"
expect_exit 0 gpucert show api
expect_says "api.vulkan"
expect_says "api.opencl"
expect_exit 0 gpucert show 'registration.v*' restart.terminate
expect_says "registration.version"
expect_says "restart.terminate"
expect_exit 2 gpucert show isolatoin
expect_says "did you mean 'isolation'?"
expect_exit 2 gpucert run --node wnie
expect_says "did you mean 'wine'?"
# A reader that went away is no message, whether or not writing kills.
(trap '' PIPE; sleep 0.3; gpucert list 2>"$work/err" || true) | true
[ ! -s "$work/err" ] || complain "a closed pipe: $(cat "$work/err")"
expect_exit 2 gpucert report
expect_exit 3 gpucert report "$work/nothing"
expect_says "$work/nothing"
expect_exit 2 "$bin/../libexec/gpucert/run-check"
expect_says "gpucert run"

# Every command and option is in the generated man page, and completions offer it.
expect_exit 0 gpucert --generate man
expect_says "thorough"
expect_exit 0 gpucert --complete run --tho
expect_says "--thorough"
