#!/bin/sh
# SPDX-License-Identifier: MIT
# A containerd of another generation than the system's, from the packages of a newer Debian: unpacked into the cache, once, and
# never installed. Prints the path of its containerd, for `gpucert run --containerd`; ctr and the shim lie beside it, runc is the
# system's.
#   make-containerd.sh 1.7|2            the path; made when it is missing (about 15 seconds, 35 MB to fetch, 100 MB in the cache)
#   make-containerd.sh --check 1.7|2    the same, but exit code 77 and the reason when it is missing and cannot be had here
#   make-containerd.sh --cached 1.7|2   the same, but exit code 77 when it is missing
# GPUCERT_CACHE names the cache (otherwise /var/cache/gpucert, or ~/.cache/gpucert where the user is not root);
# GPUCERT_DEBIAN_MIRROR names the mirror.
set -eu

mode=
case ${1:-} in
--check | --cached)
	mode=$1
	shift
	;;
esac
generation=${1:-}
case $generation in
1.7) suite=trixie ;;
2) suite=forky ;;
*)
	echo "usage: make-containerd.sh [--check | --cached] 1.7|2" >&2
	exit 2
	;;
esac

cannot() {
	echo "make-containerd.sh: no containerd $generation: $1" >&2
	[ -n "$mode" ] && exit 77
	exit 1
}

if [ -n "${GPUCERT_CACHE:-}" ]; then
	cache=$GPUCERT_CACHE
elif [ "$(id -u)" -eq 0 ]; then
	cache=/var/cache/gpucert
else
	cache=${HOME:?}/.cache/gpucert
fi
# It belongs to what it was made by: another script is another folder.
hash=$(sha256sum "$0")
folder=$cache/containerd-$generation-$(expr "$hash" : '\(.\{16\}\)')

if [ -d "$folder" ]; then
	echo "$folder/containerd"
	exit 0
fi
[ "$mode" != --cached ] || cannot "it is not in the cache: run $0 $generation"
keyring=/usr/share/keyrings/debian-archive-keyring.gpg
for program in apt-get dpkg-deb flock; do
	command -v $program >/dev/null || cannot "$program is not installed"
done
[ -r $keyring ] || cannot "there is no $keyring (package debian-archive-keyring)"

mkdir -p "$cache"
exec 9>"$folder.lock"
flock 9
if [ -d "$folder" ]; then # made by somebody else meanwhile
	echo "$folder/containerd"
	exit 0
fi
new=$folder.new
log=$folder.log
rm -rf "$new"

# apt with lists and a state of its own: what it fetches is signed by Debian, and the system's lists are left alone.
apt() {
	apt-get -q -o Dir::Etc::SourceList="$new/sources.list" -o Dir::Etc::SourceParts=/dev/null -o Dir::State="$new/state" \
		-o Dir::State::Status="$new/status" -o Dir::Cache="$new/cache" -o APT::Sandbox::User=root \
		-o Acquire::Languages=none -o Acquire::Retries=2 "$@"
}

# Output goes to the log: stdout is the path alone.
make() {
	mkdir -p "$new/state/lists/partial" "$new/cache/archives/partial" "$new/tree" && : >"$new/status" || return 1
	echo "deb [signed-by=$keyring] ${GPUCERT_DEBIAN_MIRROR:-http://deb.debian.org/debian} $suite main" >"$new/sources.list"
	apt update && (cd "$new" && apt download containerd) && dpkg-deb -x "$new"/containerd_*.deb "$new/tree" || return 1
	mkdir "$new/folder" && for program in containerd containerd-shim-runc-v2 ctr; do
		mv "$new/tree/usr/bin/$program" "$new/folder/" || return 1
	done
	version=$("$new/folder/containerd" --version) && echo "$version" || return 1
	# "containerd github.com/containerd/containerd/v2 2.1.9+unknown"
	case $(echo "$version" | cut -d ' ' -f 3) in
	"$generation".*) ;;
	*)
		echo "$suite has another generation"
		return 1
		;;
	esac
}
if ! make </dev/null >"$log" 2>&1 9>&-; then
	tail -n 10 "$log" >&2
	rm -rf "$new"
	cannot "fetching it from Debian $suite failed, see $log"
fi
mv "$new/folder" "$folder"
rm -rf "$new"
echo "$folder/containerd"
