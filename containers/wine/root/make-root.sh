#!/bin/sh
# SPDX-License-Identifier: MIT
# Makes the root in which Windows programs run, once: Debian 13 with Wine 10 and software drivers (root-packages.txt) and a
# prepared Wine prefix. Prints its path. A root that is there already costs nothing.
#   make-root.sh            the root's path; made when it is missing
#   make-root.sh --check    the same, but exit code 77 and the reason when it is missing and cannot be made here
# GPUCERT_CACHE names the cache (otherwise /var/cache/gpucert, or ~/.cache/gpucert where the user is not root);
# GPUCERT_DEBIAN_MIRROR names the mirror.
set -eu

wine_sources=$(cd "$(dirname "$0")" && pwd)
. "$wine_sources/cache.sh"

cannot() {
	echo "make-root.sh: no root for Windows programs: $1" >&2
	[ "${check:-no}" = yes ] && exit 77
	exit 1
}

[ "${1:-}" = --check ] && check=yes
if [ -d "$wine_root" ]; then
	echo "$wine_root"
	exit 0
fi
[ "$(id -u)" -eq 0 ] || cannot "root is needed to make it (chroot, mounts)"
command -v debootstrap >/dev/null || cannot "debootstrap is not installed"
command -v "${CC:-cc}" >/dev/null || cannot "there is no C compiler (keep-signals.c)"
command -v unshare >/dev/null || cannot "unshare is not installed"
unshare --mount --pid --fork true 2>/dev/null || cannot "this machine does not let root make mount and process namespaces"

mkdir -p "$cache"
exec 9>"$wine_root.lock"
flock 9
if [ -d "$wine_root" ]; then # made by somebody else meanwhile
	echo "$wine_root"
	exit 0
fi
new=$wine_root.new
log=$wine_root.log
rm -rf "$new"

# Output goes to the log: stdout is the path alone.
make_root() {
	packages=$(sed -e 's/#.*//' "$wine_sources/root-packages.txt" | tr -s ' \n' ',' | sed -e 's/^,//; s/,$//')
	debootstrap --variant=minbase --include="$packages" trixie "$new" \
		"${GPUCERT_DEBIAN_MIRROR:-http://deb.debian.org/debian}" || return 1
	rm -rf "$new"/var/cache/apt/* "$new"/var/lib/apt/lists/* "$new"/var/cache/debconf/* "$new"/usr/share/doc/* \
		"$new"/usr/share/man/* "$new"/usr/share/locale/* "$new"/usr/share/info/* "$new"/var/log/*
	# Wine's Windows files carry their debug information: four fifths of their size.
	# Sections stay page-aligned in the files: Wine maps those, and reads others into each process' own memory.
	chroot "$new" sh -c 'for file in /usr/lib/x86_64-linux-gnu/wine/x86_64-windows/*; do
		objcopy --strip-all --file-alignment=4096 "$file" || exit 1
	done' || return 1
	"${CC:-cc}" -std=c11 -D_GNU_SOURCE -O2 -Wall -Wextra -shared -fPIC -o "$new/usr/local/lib/keep-signals.so" \
		"$wine_sources/keep-signals.c" -ldl || return 1
	install -m 755 "$wine_sources/prepare-prefix.sh" "$new/usr/local/sbin/prepare-prefix"
	# shellcheck disable=SC2016 # the inner shell expands these
	unshare --mount --pid --fork --kill-child --propagation private -- sh -c '
		mount -t proc proc "$1/proc" && mount --rbind /dev "$1/dev" && mount -t tmpfs tmpfs "$1/tmp" || exit 1
		exec timeout 300 chroot "$1" /usr/local/sbin/prepare-prefix' prepare "$new" || return 1
	[ -f "$new/var/lib/gpucert/prefix/system.reg" ]
}
if ! make_root </dev/null >"$log" 2>&1 9>&-; then
	tail -n 25 "$log" >&2
	cannot "making it failed, see $log"
fi
mv "$new" "$wine_root"
echo "$wine_root"
