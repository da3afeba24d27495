#!/bin/sh
# SPDX-License-Identifier: MIT
# windows_package.sh BUILD OBJDUMP WINDRES VERSION: makes the ZIP package of the Windows build BUILD, unpacks it and looks:
# checksums hold and cover every file; programs and libraries import nothing but the system's and the package's DLLs, are
# hardened, have a version resource and, programs, a manifest; every library that is linked in has its licence there.
set -eu
build=$1 objdump=$2 windres=$3 version=$4

place=$build/tests/package
sources=$(cd "$(dirname "$0")/../.." && pwd)
failed=0
fail() {
	echo "$1"
	failed=1
}

rm -rf "$place"
mkdir -p "$place"
if ! cpack --config "$build/CPackConfig.cmake" -B "$place/made" >"$place/log" 2>&1; then
	cat "$place/log"
	exit 1
fi
zip=gpucert-$version-windows-x86_64.zip
(cd "$place/made" && sha256sum --check --quiet --strict "$zip.sha256") || fail "$zip.sha256 does not fit"
cd "$place"
cmake -E tar xf "made/$zip"
cd "${zip%.zip}"

sha256sum --check --quiet --strict SHA256SUMS || fail "SHA256SUMS does not fit"
find . -type f ! -path ./SHA256SUMS | sed 's|^\./||' | sort >"$place/files"
sed 's/^[0-9a-f]*  //' SHA256SUMS | sort | cmp -s - "$place/files" || fail "SHA256SUMS does not name all files"

# What Windows 10 and Server 2019 have in System32, as far as programs here may link it; anything else is opened at run time.
system='advapi32 bcrypt cfgmgr32 crypt32 dbghelp gdi32 iphlpapi kernel32 msvcrt ntdll ole32 oleaut32 psapi rpcrt4 setupapi shell32
user32 userenv version winmm ws2_32'
grep -E '\.(exe|dll)$' "$place/files" >"$place/binaries" || fail "no programs"
while read -r file; do
	"$objdump" -p "$file" >"$place/headers"
	for library in $(sed -n 's/.*DLL Name: //p' "$place/headers" | tr '[:upper:]' '[:lower:]'); do
		case " $(echo "$system" | tr '\n' ' ') " in
		*" ${library%.dll} "*) continue ;;
		esac
		case $library in
		api-ms-win-crt-*.dll) ;;
		*) [ -f "bin/$library" ] || fail "$file imports $library" ;;
		esac
	done
	for property in HIGH_ENTROPY_VA DYNAMIC_BASE NX_COMPAT; do
		grep -q "$property" "$place/headers" || fail "$file is not $property"
	done
	if "$objdump" -h "$file" | grep -q '\.debug_info'; then
		fail "$file has debug information"
	fi
	"$windres" --input-format coff --output-format rc "$file" >"$place/resources" 2>&1 || fail "$file has no resources"
	grep -q "\"FileVersion\", \"$version" "$place/resources" || fail "$file has no version $version"
	case $file in
	*.exe) grep -q longPathAware "$place/resources" || fail "$file has no manifest" ;;
	esac
done <"$place/binaries"

# Archives on the link lines of what is installed, by the Debian packages that they come from.
awk '/^build (bin|libexec)\// { wanted = 1; next } /^$/ { wanted = 0 }
	wanted && /^ *LINK_LIBRARIES = / { for (i = 3; i <= NF; i++) print $i }' "$build/build.ninja" |
	sed -n 's|^/.*/mingw-[^/]*/lib/lib\(.*\)\.a$|\1|p' | sort -u >"$place/linked"
[ ! -s "$place/binaries" ] || [ -s "$place/linked" ] || fail "build.ninja names no libraries that programs are linked with"
while read -r library; do
	package=$(awk -v flag="-l$library" '{ for (i = 3; i <= NF; i++) if ($i == flag) print $1 }' \
		"$sources/cmake/windows-dependencies/sources.txt")
	[ -n "$package" ] || fail "lib$library.a is of no package of sources.txt"
	[ -s "share/doc/gpucert/licenses/$package.txt" ] || fail "lib$library.a ($package) is linked in without its licence"
done <"$place/linked"
for name in libgcc libmingw32; do
	[ -s "share/doc/gpucert/licenses/$name.txt" ] || fail "the licence of the compiler's $name is not there"
done
# What Containerfiles copy and what pods start.
sed -n 's|^COPY \([^ ]*\) .*|\1|p' share/gpucert/deploy/windows/*.Containerfile >"$place/copied"
[ -s "$place/copied" ] || fail "no Containerfiles"
while read -r folder; do
	[ -d "$folder" ] || fail "a Containerfile copies $folder, which is not there"
done <"$place/copied"
sed -n "s|^ *command: \['C:.gpucert.libexec.gpucert.\(.*\)'\]$|\1|p" share/gpucert/deploy/windows/*.yaml >"$place/started"
[ -s "$place/started" ] || fail "no pods"
while read -r program; do
	[ -f "libexec/gpucert/$program" ] || fail "a pod starts $program, which is not there"
done <"$place/started"
[ -s share/doc/gpucert/LICENSE ] || fail "no LICENSE"
exit $failed
