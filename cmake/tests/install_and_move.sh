#!/bin/sh
# SPDX-License-Identifier: MIT
# install_and_move.sh CMAKE BUILD PLACE: installs the build into an empty folder and moves that to PLACE.
set -eu
cmake=$1 build=$2 place=$3

rm -rf "$place" "$place.first"
"$cmake" --install "$build" --prefix "$place.first" >"$place.log" || {
	tail -n 5 "$place.log" >&2
	exit 1
}
mv "$place.first" "$place"
