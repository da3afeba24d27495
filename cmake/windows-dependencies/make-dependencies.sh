#!/bin/sh
# SPDX-License-Identifier: MIT
# Cross-builds the libraries of the Windows programs once, from Debian's source packages (sources.txt), and prints the
# folder that they are installed in. What is there already costs nothing. Besides libraries and headers it holds each
# package's licence (licenses/) and version (versions.txt). Takes about two minutes on two cores.
# GPUCERT_CACHE names the cache (otherwise /var/cache/gpucert, or ~/.cache/gpucert where the user is not root);
# GPUCERT_DEBIAN_MIRROR names the mirror.
set -eu

here=$(cd "$(dirname "$0")" && pwd)
if [ -n "${GPUCERT_CACHE:-}" ]; then
	cache=$GPUCERT_CACHE
elif [ "$(id -u)" -eq 0 ]; then
	cache=/var/cache/gpucert
else
	cache=${HOME:?}/.cache/gpucert
fi
compiler=$(command -v x86_64-w64-mingw32ucrt-gcc || command -v x86_64-w64-mingw32-gcc) || {
	echo "make-dependencies.sh: no MinGW-w64: install gcc-mingw-w64-x86-64-win32" >&2
	exit 3
}
# A build belongs to what it was made from: other recipes, sources or another compiler are another build.
hash=$({ cat "$here"/*.cmake "$here/CMakeLists.txt" "$here/sources.txt" "$here/make-dependencies.sh" \
	"$here/../toolchain-mingw.cmake" && "$compiler" --version; } | sha256sum)
prefix=$cache/mingw-$(expr "$hash" : '\(.\{16\}\)')
work=$prefix.work
log=$prefix.log
mirror=${GPUCERT_DEBIAN_MIRROR:-http://deb.debian.org/debian}
names=$(sed -e 's/#.*//' "$here/sources.txt" | awk 'NF { print $1 }')

is_made() {
	[ -f "$prefix/versions.txt" ] || return 1
	echo "$prefix"
}

# apt with a configuration of its own: the machine's stays as it is. It verifies signatures and checksums.
private_apt() {
	apt-get -q -o Dir::Etc::SourceList="$work/apt/sources.list" -o Dir::Etc::SourceParts=/dev/null \
		-o Dir::State::Lists="$work/apt/lists" -o Dir::Cache="$work/apt" -o APT::Sandbox::User=root "$@"
}

fetch() {
	rm -rf "$work" "$prefix"
	mkdir -p "$work/apt/lists/partial" "$work/apt/archives/partial" "$work/packages" "$work/sources"
	echo "deb-src [signed-by=/usr/share/keyrings/debian-archive-keyring.gpg] $mirror bookworm main" >"$work/apt/sources.list"
	private_apt update
	# shellcheck disable=SC2086 # one word for each package
	(cd "$work/packages" && private_apt source --download-only --only-source $names)
	for name in $names; do
		dpkg-source --no-check -x "$work"/packages/"$name"_*.dsc "$work/sources/$name"
	done
}

# pc_file NAME VERSION FLAGS: describes a library to pkg-config, always as a static one.
pc_file() {
	printf 'Name: %s\nDescription: %s for Windows, static\nVersion: %s\nLibs: -L%s/lib %s\nCflags: -I%s/include %s\n' \
		"$1" "$1" "$2" "$prefix" "$(echo "$3" | tr -s ' ' '\n' | grep '^-l' | tr '\n' ' ')" \
		"$prefix" "$(echo "$3" | tr -s ' ' '\n' | grep '^-D' | tr '\n' ' ')" >"$prefix/lib/pkgconfig/$1.pc"
}

# Headers of the GPU APIs hold nothing of the platform: those of the distribution serve.
copy_headers() {
	for folder in vulkan vk_video CL ffnvcodec; do
		cp -r "/usr/include/$folder" "$prefix/include/"
	done
	for name in vulkan OpenCL-Headers ffnvcodec; do
		pc_file "$name" "$(pkg-config --modversion "$name")" ''
	done
}

build() {
	cmake -G Ninja -S "$here" -B "$work/build" -DSOURCES="$work/sources" -DCMAKE_INSTALL_PREFIX="$prefix" -Wno-dev
	cmake --build "$work/build" -j 2
	(cd "$prefix" && rm -rf lib/pkgconfig lib/cmake cmake share bin)
	mkdir -p "$prefix/lib/pkgconfig" "$prefix/licenses"
	copy_headers
	sed -e 's/#.*//' "$here/sources.txt" | while read -r package name flags; do
		[ -n "$package" ] || continue
		version=$(dpkg-parsechangelog -l "$work/sources/$package/debian/changelog" -S Version)
		upstream=${version#*:}
		pc_file "$name" "${upstream%-*}" "$flags"
		cp "$work/sources/$package/debian/copyright" "$prefix/licenses/$package.txt"
		echo "$package $version"
	done >"$work/versions.txt"
	mv "$work/versions.txt" "$prefix/versions.txt"
}

is_made && exit 0
# In a process of its own, since errors do not end a function that is a condition.
if [ "${1:-}" = --make ]; then
	fetch
	build
	exit 0
fi
mkdir -p "$cache"
exec 9>"$prefix.lock"
flock 9
is_made && exit 0 # by somebody else meanwhile
echo "Cross-building the libraries of Windows programs: once, about 2 minutes (log: $log)" >&2
if ! "$0" --make </dev/null >"$log" 2>&1 9>&-; then
	tail -n 25 "$log" >&2
	echo "make-dependencies.sh: making the libraries failed, see $log" >&2
	exit 1
fi
rm -rf "$work"
echo "$prefix"
