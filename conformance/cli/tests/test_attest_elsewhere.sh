#!/bin/sh
# SPDX-License-Identifier: MIT
# An attestation made here verifies on another machine with nothing but the public key: in a root folder that holds the program,
# its libraries, the report's folder and the key, without network, as another user.
# usage: test_attest_elsewhere.sh BIN SOURCE
. "$(dirname "$0")/lib.sh"
source=$2
. "$(dirname "$0")/attest_lib.sh"
root=$work/root

unshare --user --map-root-user --net true 2>/dev/null || [ "$(id -u)" -eq 0 ] || skip "no right to make a root folder"
gpucert key generate "$work/vendor.key" >/dev/null
gpucert key generate "$work/other.key" >/dev/null
make_report "$work/run"
gpucert attest "$work/run" --key "$work/vendor.key" >/dev/null
cat >"$work/product.yaml" <<'END'
vendor: Yoyodyne
name: Turbo Encabulator
version: v1.7.4
website_url: https://yoyo.dyne/turbo-encabulator
documentation_url: https://yoyo.dyne/turbo-encabulator/docs
type: device plugin
description: Gives GPUs to containers.
contact_email_address: certification@yoyo.dyne
END
gpucert certify build "$work/run" --product "$work/product.yaml" --key "$work/vendor.key" --out "$work/certificate" >/dev/null

mkdir -p "$root/bin"
cp "$bin/gpucert" "$root/bin"
ldd "$bin/gpucert" | grep -o '/[^ ]*' | while read -r library; do
	mkdir -p "$root$(dirname "$library")"
	cp -L "$library" "$root$library"
done
cp -R "$work/run" "$work/certificate" "$root"
cp "$work/vendor.key.pub" "$work/other.key.pub" "$root"
chmod -R go+rX "$root"

if [ "$(id -u)" -eq 0 ]; then
	chmod 755 "$work"
	elsewhere() {
		env -i PATH="$PATH" unshare --net --pid --fork setpriv --reuid 65534 --regid 65534 --clear-groups --bounding-set=-all,+sys_chroot \
			--inh-caps=+sys_chroot --ambient-caps=+sys_chroot chroot "$root" "$@"
	}
else
	elsewhere() {
		env -i PATH="$PATH" unshare --user --map-root-user --net chroot "$root" "$@"
	}
fi
expect_exit 0 elsewhere /bin/gpucert verify /run --key /vendor.key.pub
expect_says "result PASSED, conformant"
expect_exit 0 elsewhere /bin/gpucert certify check /certificate --key /vendor.key.pub
expect_says "certified: Turbo Encabulator v1.7.4 by Yoyodyne"
expect_exit 1 elsewhere /bin/gpucert verify /run --key /other.key.pub
expect_says "wrong-key: "
sed -i 's/"conformant"/"Conformant"/' "$root/run/report.json"
expect_exit 1 elsewhere /bin/gpucert verify /run --key /vendor.key.pub
expect_says "tampered-report: "
