#!/bin/sh
# SPDX-License-Identifier: MIT
# Makes the root of the virtual machine of "gpucert run --node vm", once: Debian 13 with QEMU, a kernel, Mesa and containerd
# (root-packages.txt), and its disk. Prints the folder that holds "root" and "disk.img". A root that exists already costs nothing.
#   make-root.sh            the folder; made when it is missing
#   make-root.sh --check    the same, but exit code 77 and the reason when it is missing and cannot be made here
# GPUCERT_CACHE names the cache (otherwise /var/cache/gpucert, or ~/.cache/gpucert where the user is not root);
# GPUCERT_DEBIAN_MIRROR names the mirror, and GPUCERT_VM_MESA the suite that Mesa comes from (otherwise trixie): trixie-backports
# has a newer one.
set -eu

sources=$(cd "$(dirname "$0")" && pwd)
cannot() {
	echo "gpucert: no virtual machine: $1" >&2
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
mirror=${GPUCERT_DEBIAN_MIRROR:-http://deb.debian.org/debian}
mesa=${GPUCERT_VM_MESA:-trixie}
# A root belongs to what it was made from: another list, script or Mesa is another root.
hash=$(echo "$mesa" | cat - "$sources/make-root.sh" "$sources/root-packages.txt" "$sources/guest-init" | sha256sum)
vm=$cache/vm-$(expr "$hash" : '\(.\{16\}\)')
if [ -d "$vm" ]; then
	echo "$vm"
	exit 0
fi
[ "$(uname -m)" = x86_64 ] || cannot "only x86-64 machines run it"
[ "$(id -u)" -eq 0 ] || cannot "root is needed to make it (chroot, mounts)"
for program in debootstrap mke2fs unshare; do
	command -v "$program" >/dev/null || cannot "$program is not installed"
done

mkdir -p "$cache"
exec 9>"$vm.lock"
flock 9
if [ -d "$vm" ]; then # made by somebody else meanwhile
	echo "$vm"
	exit 0
fi
new=$vm.new
log=$vm.log
rm -rf "$new"
echo "making the root of the virtual machine (Debian 13 with QEMU and $mesa's Mesa, some minutes): $log" >&2

# Output goes to the log: stdout is the folder alone.
make_root() {
	root=$new/root
	packages=$(sed -e 's/#.*//' "$sources/root-packages.txt" | tr -s ' \n' ',' | sed -e 's/^,//; s/,$//')
	mkdir -p "$root" || return 1
	debootstrap --variant=minbase --include="$packages" trixie "$root" "$mirror" || return 1
	if [ "$mesa" != trixie ]; then
		echo "deb $mirror $mesa main" >"$root/etc/apt/sources.list.d/mesa.list"
		chroot "$root" apt-get update || return 1
		DEBIAN_FRONTEND=noninteractive chroot "$root" apt-get install -y --no-install-recommends -t "$mesa" \
			mesa-vulkan-drivers libgl1-mesa-dri libglx-mesa0 libegl-mesa0 || return 1
	fi
	rm -rf "$root"/var/cache/apt/* "$root"/var/lib/apt/lists/* "$root"/var/cache/debconf/* "$root"/usr/share/doc/* \
		"$root"/usr/share/man/* "$root"/usr/share/locale/* "$root"/usr/share/info/* "$root"/var/log/*
	# Without it the guest hangs while it reads what the virtual GPU can do.
	[ -x "$root/usr/libexec/virgl_render_server" ] || { echo "no virgl_render_server" && return 1; }
	install -m 755 "$sources/guest-init" "$root/usr/local/sbin/guest-init" || return 1
	mkdir -p "$root/mnt/gpucert" "$root/mnt/run"
	mke2fs -q -t ext4 -O ^has_journal -m 0 -d "$root" "$new/disk.img" 4G || return 1
	cp "$root"/boot/vmlinuz-* "$new/kernel" && cp "$root"/boot/initrd.img-* "$new/initrd" && rm -rf "${root:?}/boot"
}
if ! make_root </dev/null >"$log" 2>&1 9>&-; then
	tail -n 25 "$log" >&2
	cannot "making it failed, see $log"
fi
mv "$new" "$vm"
echo "$vm"
