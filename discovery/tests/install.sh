#!/bin/sh
# SPDX-License-Identifier: MIT
# install.sh PREFIX COMPILER SANITIZERS: builds and runs a program against the library in PREFIX, to where the
# installed tree was moved. SANITIZERS: "" for none.
set -eu
prefix=$1 compiler=$2 sanitizers=$3

if [ -n "$sanitizers" ]; then
	echo "skipped: a program without the sanitizers' runtime cannot load the library"
	exit 77
fi
place=$(mktemp -d)
trap 'rm -rf "$place"' EXIT

cat >"$place/list.c" <<'END'
/* As in winerror.h: the headers leave a program's own names alone. */
#define ERROR_NOT_FOUND 1168L
#define ERROR_TIMEOUT 1460L
#define ERROR_CANCELLED 1223L
#define ERROR_BUSY 170L
#include <gpucert/discovery.h>
#include <stdio.h>
#if ERROR_NOT_FOUND != 1168L || ERROR_TIMEOUT != 1460L || ERROR_CANCELLED != 1223L || ERROR_BUSY != 170L
#error "a name is taken"
#endif

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
export PKG_CONFIG_PATH="$prefix/lib/pkgconfig"
# shellcheck disable=SC2046 # pkg-config prints words
"$compiler" -std=c11 -Wall -Wextra -Werror -o "$place/list" "$place/list.c" \
	$(pkg-config --cflags --libs gpudiscovery) -Wl,-rpath,"$prefix/lib"
node="$prefix/share/gpucert/nodes/windows-4x-tesla-t4.json"
seen=$("$place/list" "$node")
echo "program: $seen"
[ "${seen#* }" = 4 ]
"$place/list" "$place/none.json" 2>&1 | grep -q '^not-found: '
"$prefix/bin/gpu-discovery" --node "$node" --require 4
