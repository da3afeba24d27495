#!/bin/sh
# SPDX-License-Identifier: MIT
# Installs the project into an empty folder, moves the folder, and builds and runs a program against the
# library there. Arguments: cmake, build folder, C compiler, sanitizers ("" for none).
set -eu
cmake=$1 build=$2 compiler=$3 sanitizers=$4

if [ -n "$sanitizers" ]; then
	echo "skipped: a program without the sanitizers' runtime cannot load the library"
	exit 77
fi
place=$(mktemp -d)
trap 'rm -rf "$place"' EXIT
"$cmake" --install "$build" --prefix "$place/first" >"$place/install.log" || {
	tail -n 5 "$place/install.log" >&2
	exit 1
}
mv "$place/first" "$place/moved"

cat >"$place/list.c" <<'END'
#include <gpucert/discovery.h>
#include <stdio.h>

int main(int argc, char **argv)
{
	struct discovery_options options = {.recorded_node = argc > 1 ? argv[1] : NULL};
	struct discovery_snapshot *snapshot = NULL;
	struct error err = {0};

	if (discovery_take(&options, &snapshot, &err) < 0) {
		fprintf(stderr, "%s: %s\n", error_code_name(err.code), err.text);
		return 1;
	}
	printf("%s %zu\n", discovery_version(), snapshot->device_count);
	discovery_free(snapshot);
	return 0;
}
END
export PKG_CONFIG_PATH="$place/moved/lib/pkgconfig"
# shellcheck disable=SC2046 # pkg-config prints words
"$compiler" -std=c11 -Wall -Wextra -Werror -o "$place/list" "$place/list.c" \
	$(pkg-config --cflags --libs gpudiscovery) -Wl,-rpath,"$place/moved/lib"
node="$place/moved/share/gpucert/nodes/windows-4x-tesla-t4.json"
seen=$("$place/list" "$node")
echo "program: $seen"
[ "${seen#* }" = 4 ]
"$place/list" "$place/none.json" 2>&1 | grep -q '^not-found: '
"$place/moved/bin/gpu-discovery" --node "$node" --require 4
