#!/bin/sh
# SPDX-License-Identifier: MIT
# test_lint.sh: a clean tree passes lint_sources.sh, and every rule is able to fail.
set -eu

here=$(cd "$(dirname "$0")" && pwd)
tree=$(mktemp -d)
trap 'rm -rf "$tree"' EXIT
failed=0

licence='/* SPDX-License-Identifier: MIT */'

# A tree without faults, with what must not be taken for one.
fresh_tree() {
	rm -rf "${tree:?}"/*
	mkdir -p "$tree/base" "$tree/rpc" "$tree/reference-plugin" "$tree/workloads/tests" "$tree/conformance/tests/doubles" \
		"$tree/conformance/runner/tests" "$tree/conformance/checks" "$tree/build"
	printf '# SPDX-License-Identifier: MIT\n' >"$tree/CMakeLists.txt"
	printf '%s\n#include "base/b.h"\n/* system("x"); TODOS */\nint f(void);\n\tfile_system(a); s = "gets(x)";\n' "$licence" >"$tree/base/a.c"
	printf '%s\n' "$licence" >"$tree/base/b.h"
	printf '%s\n#include <vulkan/vulkan.h>\n#include "base/b.h"\n' "$licence" >"$tree/workloads/v.c"
	printf '%s\n#include "rpc/r.h"\n#include <gpucert/error.h>\n' "$licence" >"$tree/conformance/c.c"
	printf '%s\n#include "conformance/runner/r.h"\n' "$licence" >"$tree/conformance/checks/c.c"
	printf '%s\n#include "conformance/checks/c.h"\n' "$licence" >"$tree/conformance/runner/tests/t.c"
	printf '%s\n#include <CL/cl.h>\n#include "conformance/tests/doubles/d.h"\n' "$licence" >"$tree/conformance/tests/t.c"
	printf 'no licence, but built\n' >"$tree/build/x.c"
}

# expect RULE FILE CONTENT: the file breaks the rule, and nothing else is broken.
expect() {
	fresh_tree
	printf '%b' "$3" >"$tree/$2"
	if output=$("$here/lint_sources.sh" "$tree"); then
		echo "$1: $2 passes"
		failed=1
	elif [ "$(printf '%s\n' "$output" | grep -c ": $1: ")" != 1 ] || [ "$(printf '%s\n' "$output" | wc -l)" != 1 ]; then
		echo "$1: $2 gives: $output"
		failed=1
	fi
}

fresh_tree
if ! output=$("$here/lint_sources.sh" "$tree"); then
	echo "the clean tree gives: $output"
	failed=1
fi
expect L1 base/x.c 'int x;\n'
expect L1 base/x.cmake 'set(x 1)\n'
expect L2 base/x.c "$licence\\n\\tx = strcpy(a, b);\\n"
expect L2 base/x.c "$licence\\n\\t/* fine */ system (a);\\n"
expect L3 base/x.c "$licence\\n#include \"rpc/r.h\"\\n"
expect L3 workloads/x.c "$licence\\n#include \"rpc/r.h\"\\n"
expect L4 workloads/tests/x.c "$licence\\n#include \"rpc/r.h\"\\n"
expect L3 conformance/runner/x.c "$licence\\n#include \"conformance/checks/c.h\"\\n"
expect L6 conformance/x.c "$licence\\n#include <CL/cl.h>\\n"
expect L6 rpc/x.c "$licence\\n#include <d3d12.h>\\n"
expect L7 conformance/x.c "$licence\\n#include \"conformance/tests/doubles/d.h\"\\n"
expect L8 base/x.c "$licence\\n$(printf '%0700d' 0 | sed 's/0/\\n/g')"
expect L9 base/x.c "$licence\\n/* TODO: x */\\n"
expect L10 base/nul '\n'
expect L11 base/x.c "$licence\\nint f(void)\\n{\\n$(printf '%059d' 0 | sed 's/0/\\n/g')}\\n"
expect L12 base/x.md 'a\n<<<<<<< HEAD\nb\n=======\nc\n'
expect L13 conformance/runner/x.c "$licence\\n#include \"base/posix/internal.h\"\\n"
expect L10 base/Com1.json '\n'
expect L10 'base/a:b' '\n'
expect L10 base/ends. '\n'
expect L10 base/A.c "$licence\\n"

fresh_tree
printf 'lines 3 workloads: workloads\n' >"$tree/enough"
printf 'lines 2 workloads: workloads\n' >"$tree/few"
if output=$("$here/lint_sources.sh" "$tree" "$tree/enough") && output=$("$here/lint_sources.sh" "$tree" "$tree/few"); then
	echo "L5: too many lines pass"
	failed=1
elif ! printf '%s\n' "$output" | grep -q 'L5: workloads has 3 lines, more than 2$'; then
	echo "L5 gives: $output"
	failed=1
fi

exit $failed
