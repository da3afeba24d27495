#!/bin/sh
# SPDX-License-Identifier: MIT
# What a machine lacks is named with the command that mends it.
. "$(dirname "$0")/lib.sh"

gpucert doctor --json >"$work/here.json" || [ $? -eq 1 ] || complain "gpucert doctor failed"
node - "$work/here.json" <<'E2' || complain "the rows are not as expected"
const rows = JSON.parse(require('fs').readFileSync(process.argv[2]));
const of = (what) => rows.filter((row) => row.what === what);
const [checks] = of('checks');
if (of('node').length !== 1 || of('device').length === 0 || !/^\d+ of \d+ that apply/.test(checks.detail)) process.exit(1);
if (rows.some((row) => !['ok', 'note', 'missing'].includes(row.state))) process.exit(1);
E2

# Without containerd and runc in PATH.
mkdir "$work/path"
ln -s "$(command -v env)" "$work/path/env"
expect_exit 1 env PATH="$work/path" "$bin/gpucert" doctor
expect_says "apt install containerd runc"
expect_says "needs to run probes"

# A program called containerd that is none.
printf '#!/bin/sh\nexit 1\n' >"$work/path/containerd"
chmod +x "$work/path/containerd"
ln -s "$(command -v sh)" "$work/path/sh"
ln -s "$(command -v runc || command -v true)" "$work/path/runc"
expect_exit 1 env PATH="$work/path" "$bin/gpucert" doctor
expect_says "missing  containers"
expect_says "checks           "
expect_nothing_left
