#!/bin/sh
# SPDX-License-Identifier: MIT
# check_changed.sh PASSED CONTEXT COMMAND...: runs the command on those files of stdin, one a line, that have not passed it as
# they are now. PASSED is the file that remembers which have; CONTEXT is text that makes another check of it, such as the
# version of a tool and its configuration. What a file includes does not count: a clean checkout checks every file.
set -eu

passed=$1
context=$(printf '%s' "$2" | sha256sum | cut -c 1-16)
shift 2
mkdir -p "$(dirname "$passed")"
touch "$passed"
now=$(mktemp)
trap 'rm -f "$now"' EXIT
xargs sha256sum | sed "s/^/$context /" | LC_ALL=C sort >"$now"
LC_ALL=C comm -23 "$now" "$passed" | cut -d ' ' -f 4- | xargs -r "$@"
mv "$now" "$passed"
