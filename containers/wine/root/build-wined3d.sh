#!/bin/sh
# SPDX-License-Identifier: MIT
# Runs inside a copy of the root (make-dlls.sh): builds /build/wined3d.dll, Wine's Direct3D, from Debian's source of the very Wine
# that the root has. vkd3d is linked into it, with two changes. Its parser of DXIL, which its makers call experimental and leave
# out by default, is compiled in; vkd3d's version tells so. And a device that has no metacommands says that instead of E_NOTIMPL,
# for DirectML asks.
set -eux

export DEBIAN_FRONTEND=noninteractive LC_ALL=C.UTF-8
sed 's/^deb /deb-src /' /etc/apt/sources.list >/etc/apt/sources.list.d/source.list
apt-get -q update
apt-get -qy install --no-install-recommends autoconf autotools-dev bison dpkg-dev flex gcc gcc-mingw-w64-x86-64-win32 gettext \
	khronos-api libc6-dev libvulkan-dev libxml-libxml-perl libz-mingw-w64-dev make pkgconf quilt unicode-cldr-core \
	unicode-data unicode-idna unzip
mkdir -p /build
cd /build
apt-get -q source --download-only wine="$(dpkg-query -W -f '${Version}' wine)"
dpkg-source --no-check -x wine_*.dsc source
cd source

device=libs/vkd3d/libs/vkd3d/device.c
sed -i '/d3d12_device_EnumerateMetaCommands(/,/^}/s/return E_NOTIMPL;/*num_meta_commands = 0; return S_OK;/' "$device"
grep -q '\*num_meta_commands = 0; return S_OK;' "$device"
version=libs/vkd3d/include/private/vkd3d_version.h
sed -i 's/(Wine bundled)/(Wine bundled, with its experimental DXIL parser)/' "$version"
grep -q 'DXIL parser' "$version"

# What Debian leaves out of its source, as debian/rules makes it: generated files, and images that makedep asks for.
./tools/make_unicode
./tools/make_requests
./tools/make_specfiles
(cd dlls/dsound && ./make_fir)
(cd dlls/opengl32 && ./make_opengl)
(cd dlls/winevulkan && ./make_vulkan -x /usr/share/vulkan/registry/vk.xml -X /usr/share/vulkan/registry/video.xml)
sed -n 's/^\t\(ln -sf .*\)/\1/p' debian/rules | sh -eux
autoreconf -f
./configure --enable-win64 --enable-archs=x86_64 --disable-tests --without-x --without-freetype --without-gstreamer \
	--without-vulkan --without-opengl --without-alsa --without-capi --without-cups --without-dbus --without-ffmpeg \
	--without-fontconfig --without-gettextpo --without-gnutls --without-gphoto --without-gssapi --without-inotify \
	--without-krb5 --without-netapi --without-opencl --without-oss --without-pcap --without-pcsclite --without-pulse \
	--without-sane --without-sdl --without-udev --without-unwind --without-usb --without-v4l2 --without-wayland \
	CROSSCFLAGS='-O2 -DVKD3D_SHADER_UNSUPPORTED_DXIL'
make -j"$(nproc)" dlls/wined3d/x86_64-windows/wined3d.dll
# As the root's own files (make-root.sh).
x86_64-w64-mingw32-objcopy --strip-all --file-alignment=4096 dlls/wined3d/x86_64-windows/wined3d.dll /build/wined3d.dll
