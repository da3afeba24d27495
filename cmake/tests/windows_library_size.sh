#!/bin/sh
# SPDX-License-Identifier: MIT
# windows_library_size.sh LIBRARY STRIP: the discovery library has at most 400 KB without debug information.
set -eu
library=$1 strip=$2 most=409600

stripped=$(mktemp)
trap 'rm -f "$stripped"' EXIT
"$strip" -o "$stripped" "$library"
size=$(stat -c %s "$stripped")
echo "$library: $size bytes stripped, at most $most"
[ "$size" -le "$most" ]
