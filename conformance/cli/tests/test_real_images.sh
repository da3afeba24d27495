#!/bin/sh
# SPDX-License-Identifier: MIT
# `gpucert image check` of images that are made of Debian's packages: an older C library, musl, another architecture; and of a layer of
# Windows with programs that MinGW-w64 built.
. "$(dirname "$0")/lib.sh"

source=$2
for program in cc node x86_64-w64-mingw32-gcc x86_64-w64-mingw32-windres; do
	command -v $program >"$work/program" || skip "$program is not installed"
done
[ "$(uname -m)" = x86_64 ] || skip "the images are made on x86-64"

# debian SUITE ARCHITECTURE PACKAGE...: the folder with their files.
debian() {
	sh "$source/containers/judging/contents/tests/debian_root.sh" "$@" 2>"$work/apt" || {
		sed 's/^/    /' "$work/apt" >&2
		return 1
	}
}
old=$(debian bullseye amd64 libc6) || skip "libc6 of Debian 11 cannot be fetched"
old_hello=$(debian bullseye amd64 hello) || skip "hello of Debian 11 cannot be fetched"
new=$(debian bookworm amd64 hello curl) || skip "programs of Debian 12 cannot be fetched"
musl=$(debian bookworm amd64 musl) || skip "musl cannot be fetched"
arm=$(debian bookworm arm64 libc6 hello) || skip "programs for arm64 cannot be fetched"

cd "$work"
cat >make.mjs <<'END'
// make.mjs LAYOUT PLATFORM ENTRYPOINT FOLDER...: an image with a layer of each folder.
import {execFileSync} from 'node:child_process';
import {createHash} from 'node:crypto';
import fs from 'node:fs';
import {gzipSync} from 'node:zlib';
const [, , layout, platform, entrypoint, ...folders] = process.argv;
fs.mkdirSync(`${layout}/blobs/sha256`, {recursive: true});
const put = (mediaType, bytes) => {
	const hex = createHash('sha256').update(bytes).digest('hex');
	fs.writeFileSync(`${layout}/blobs/sha256/${hex}`, bytes);
	return {mediaType, digest: `sha256:${hex}`, size: bytes.length};
};
const type = (name) => `application/vnd.oci.image.${name}`;
const [os, architecture, version] = platform.split('/');
const layers = folders.map((folder) =>
	put(type('layer.v1.tar+gzip'), gzipSync(execFileSync('tar', ['--sort=name', '-c', '-C', folder, '.'], {maxBuffer: 1 << 30}))));
const config = put(type('config.v1+json'), Buffer.from(JSON.stringify({os, architecture, ...(version && {'os.version': version}),
	config: {Entrypoint: [entrypoint]}, rootfs: {type: 'layers', diff_ids: layers.map((layer) => layer.digest)}})));
const manifest = put(type('manifest.v1+json'), Buffer.from(JSON.stringify({schemaVersion: 2, mediaType: type('manifest.v1+json'), config, layers})));
fs.writeFileSync(`${layout}/oci-layout`, '{"imageLayoutVersion": "1.0.0"}');
fs.writeFileSync(`${layout}/index.json`, JSON.stringify({schemaVersion: 2, manifests: [manifest]}));
END
image() {
	rm -rf layout
	node make.mjs layout "$@" || complain "the image could not be made: $*"
}
sed 's|"cpuLevel"|"driverGlibc": "2.34", "cpuLevel"|' "$source/containers/judging/compat/tests/hosts/linux-h200.json" >host.json
# check CODE LINE...: on a Linux host whose driver asks for glibc 2.34.
check() {
	expect_exit "$1" gpucert image check --host host.json oci:layout
	shift
	for line; do
		expect_says "$line"
	done
}
never() {
	! grep -F "$1" out err >&2 || complain "it says '$1'"
}

# Debian 11: libc.so.6 is a link to libc-2.31.so.
image linux/amd64 /bin/hello "$old" "$old_hello"
check 1 "driver files of the host need glibc 2.34, that of the image is 2.31"
never "linux.missing-libraries"
expect_exit 0 gpucert image inspect oci:layout
expect_says "C library    glibc 2.31"
# A compiler's folder for another machine, or for its own, is not where programs look.
mkdir -p sysroot/usr/aarch64-linux-gnu sysroot/opt/x86_64-linux-gnu/sysroot
cp -r "$arm"/lib sysroot/usr/aarch64-linux-gnu
cp -r "$(debian bookworm amd64 libc6)/lib" sysroot/opt/x86_64-linux-gnu/sysroot
image linux/amd64 /bin/hello "$old" "$old_hello" sysroot
check 1 "that of the image is 2.31"
never "linux.missing-libraries: cannot work"
# A program of Debian 12: all that it lacks is named.
image linux/amd64 curl "$old" "$new"
check 1 "curl, which the image starts, needs libcurl.so.4: no file of the image has this name" \
	"; libz.so.1: no file of the image has this name" "; GLIBC_2.34: the image has glibc 2.31"
# It has a library of that name, but for another machine.
mkdir -p wrong/usr/lib
cp "$arm"/lib/aarch64-linux-gnu/libc.so.6 wrong/usr/lib/libz.so.1
image linux/amd64 curl "$old" "$new" wrong
check 1 "; libz.so.1: the image has it only for another architecture"

# musl as Debian has it (the loader is a link to libc.so), and as others do (libc.so is the loader itself).
printf 'int puts(const char *);\nvoid _start(void)\n{\n\tputs("");\n\t__asm__("syscall" : : "a"(60), "D"(0));\n}\n' >musl.c
mkdir -p app/usr/bin itself/lib
cc -nostdlib -fno-builtin -o app/usr/bin/app musl.c -L"$musl/lib/x86_64-linux-musl" -lc -Wl,-dynamic-linker,/lib/ld-musl-x86_64.so.1
readelf -d app/usr/bin/app | grep -q 'NEEDED.*\[libc.so\]' || complain "the program does not need libc.so"
cp "$musl/lib/x86_64-linux-musl/libc.so" itself/lib/ld-musl-x86_64.so.1
for root in "$musl" itself; do
	image linux/amd64 app app "$root"
	check 1 "driver files of the host need glibc 2.34, that of the image is musl"
	never "linux.missing-libraries"
done
"$(readlink -f itself/lib/ld-musl-x86_64.so.1)" app/usr/bin/app >said || complain "the program does not work with musl"
image linux/amd64 hello "$musl" "$old_hello"
check 1 "hello, which the image starts, needs ld-linux-x86-64.so.2: no file of the image has this name; libc.so.6: no file of the image has this name"

# Another architecture, and one that the configuration denies.
image linux/arm64 hello "$arm"
check 1 "image: arm64; host: amd64" "driver files of the host need glibc 2.34, that of the image is 2.36"
never "linux.missing-libraries"
image linux/amd64 hello "$old" "$arm/usr/.."
check 1 "hello, which the image starts, needs a processor of arm64: the image is for amd64"

# Windows: a library with a version, a program, and no rule of Linux.
mkdir -p windows/Files/Windows/System32
printf '1 VERSIONINFO\nFILEVERSION 31,0,15,5222\nBEGIN\nEND\n' >version.rc
x86_64-w64-mingw32-windres version.rc version.o
printf '__declspec(dllexport) int cuInit(unsigned flags)\n{\n\treturn (int)flags;\n}\n' >nvcuda.c
x86_64-w64-mingw32-gcc -shared -o windows/Files/Windows/System32/nvcuda.dll nvcuda.c version.o
printf 'int main(void)\n{\n\treturn 0;\n}\n' >app.c
x86_64-w64-mingw32-gcc -o windows/Files/app.exe app.c
image windows/amd64/10.0.20348.2582 'C:\app.exe' windows
check 1 "image: windows; host: linux"
never "linux."
never "glibc"
expect_exit 0 gpucert image inspect oci:layout
expect_says "31.0.15.5222"
gpucert image check --host "$source/containers/judging/compat/tests/hosts/windows-server-2022.json" oci:layout >out 2>err || true
expect_says "windows.build"
never "platform.os: cannot"
never "linux."
