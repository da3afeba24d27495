# SPDX-License-Identifier: MIT
# shellcheck shell=sh disable=SC2034 # used by those who source it
# Sourced by make-root.sh and wine-run: where the root for Windows programs lies. Sets cache and wine_root.

wine_sources=${wine_sources:?the folder of this file}
if [ -n "${GPUCERT_CACHE:-}" ]; then
	cache=$GPUCERT_CACHE
elif [ "$(id -u)" -eq 0 ]; then
	cache=/var/cache/gpucert
else
	cache=${HOME:?}/.cache/gpucert
fi
# A root belongs to what it was made from: another list or another script is another root.
wine_root_hash=$(cat "$wine_sources/make-root.sh" "$wine_sources/root-packages.txt" "$wine_sources/prepare-prefix.sh" \
	"$wine_sources/keep-signals.c" | sha256sum)
wine_root=$cache/wine-root-$(expr "$wine_root_hash" : '\(.\{16\}\)')
