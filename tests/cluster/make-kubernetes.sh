#!/bin/sh
# SPDX-License-Identifier: MIT
# Builds a real Kubernetes for tests, once, from the source package of Debian 12: kubelet, kube-apiserver, kube-scheduler and
# kube-controller-manager. Puts kubectl, etcd and the CNI plugins of Debian's packages next to them. Nothing is installed on the
# system. Prints the folder of the programs.
#   make-kubernetes.sh            the folder; made when it is missing (12 minutes on two cores)
#   make-kubernetes.sh --check    the same, but exit code 77 and the reason when it is missing and cannot be made here
# GPUCERT_CACHE names the cache (otherwise /var/cache/gpucert, or ~/.cache/gpucert where the user is not root);
# GPUCERT_DEBIAN_MIRROR names the mirror.
set -eu

cannot() {
	echo "make-kubernetes.sh: no Kubernetes: $1" >&2
	[ "${check:-no}" = yes ] && exit 77
	exit 1
}

[ "${1:-}" = --check ] && check=yes
if [ -n "${GPUCERT_CACHE:-}" ]; then
	cache=$GPUCERT_CACHE
elif [ "$(id -u)" -eq 0 ]; then
	cache=/var/cache/gpucert
else
	cache=${HOME:?}/.cache/gpucert
fi
# It belongs to what it was made by: another script is another folder.
hash=$(sha256sum "$0")
folder=$cache/kubernetes-1.20-$(expr "$hash" : '\(.\{16\}\)')
if [ -d "$folder" ]; then
	echo "$folder"
	exit 0
fi
[ "$(uname -m)" = x86_64 ] || cannot "only x86-64 machines build it"
keyring=/usr/share/keyrings/debian-archive-keyring.gpg
for program in apt-get dpkg-deb dpkg-source flock jq make; do
	command -v $program >/dev/null || cannot "$program is not installed"
done
[ -r $keyring ] || cannot "there is no $keyring (package debian-archive-keyring)"

mkdir -p "$cache"
exec 9>"$folder.lock"
flock 9
if [ -d "$folder" ]; then # made by somebody else meanwhile
	echo "$folder"
	exit 0
fi
new=$folder.new
log=$folder.log
rm -rf "$new"
echo "building Kubernetes 1.20 from Debian's source package (10 to 15 minutes): $log" >&2

# apt with lists and a state of its own: what it fetches is signed by Debian, and the system's lists are left alone.
apt() {
	apt-get -q -o Dir::Etc::SourceList="$new/sources.list" -o Dir::Etc::SourceParts=/dev/null -o Dir::State="$new/state" \
		-o Dir::State::Status="$new/status" -o Dir::Cache="$new/cache" -o APT::Sandbox::User=root \
		-o Acquire::Languages=none -o Acquire::Retries=2 "$@"
}

fetch() {
	mkdir -p "$new/state/lists/partial" "$new/cache/archives/partial" "$new/tree" "$new/bin" "$new/folder" || return 1
	: >"$new/status"
	for kind in deb deb-src; do
		echo "$kind [signed-by=$keyring] ${GPUCERT_DEBIAN_MIRROR:-http://deb.debian.org/debian} bookworm main"
	done >"$new/sources.list"
	apt update && cd "$new" && apt source --download-only kubernetes &&
		apt download golang-1.19-go golang-1.19-src etcd-server kubernetes-client containernetworking-plugins || return 1
	for package in "$new"/*.deb; do
		dpkg-deb -x "$package" "$new/tree" || return 1
	done
	cp "$new/tree/usr/bin/etcd" "$new/tree/usr/bin/kubectl" "$new/folder/" && cp -r "$new/tree/usr/lib/cni" "$new/folder/" || return 1
	dpkg-source -x "$new"/kubernetes_*.dsc "$new/source"
}

# Not "go build": make generates files first. It copies what it built with rsync, for which cp is enough.
build() {
	# shellcheck disable=SC2016 # for the script that it writes
	printf '#!/bin/sh\nfor last; do :; done\nwhile [ $# -gt 2 ]; do shift; done\nexec cp -p "$1" "$last"\n' >"$new/bin/rsync"
	chmod 755 "$new/bin/rsync"
	cd "$new/source" && env -u MAKEFLAGS -u MAKELEVEL -u GOROOT -u GOFLAGS HOME="$new" GOCACHE="$new/gocache" CGO_ENABLED=0 \
		PATH="$new/bin:$new/tree/usr/lib/go-1.19/bin:$PATH" FORCE_HOST_GO=y GOLDFLAGS='-s -w' KUBE_GIT_VERSION=v1.20.2 \
		KUBE_GIT_COMMIT=debian KUBE_GIT_TREE_STATE=archive KUBE_GIT_MAJOR=1 KUBE_GIT_MINOR=20 \
		make WHAT="cmd/kubelet cmd/kube-apiserver cmd/kube-scheduler cmd/kube-controller-manager" || return 1
	for program in kubelet kube-apiserver kube-scheduler kube-controller-manager; do
		cp "$new/source/_output/bin/$program" "$new/folder/" || return 1
	done
	[ "$("$new/folder/kubelet" --version)" = "Kubernetes v1.20.2" ]
}

# Output goes to the log: stdout is the folder alone.
if ! (fetch && build) </dev/null >"$log" 2>&1 9>&-; then
	tail -n 25 "$log" >&2
	chmod -R u+w "$new" && rm -rf "$new"
	cannot "making it failed, see $log"
fi
mv "$new/folder" "$folder"
chmod -R u+w "$new" && rm -rf "$new"
echo "$folder"
