#!/bin/sh
# SPDX-License-Identifier: MIT
# Another user cannot make a run of root's write or delete elsewhere: neither by a folder of theirs, nor by exchanging it
# while the run uses it.
. "$(dirname "$0")/lib.sh"
[ "$(id -u)" -eq 0 ] || skip "needs root"
command -v setpriv >"$work/program" || skip "setpriv is not installed"

run() {
	gpucert run --launcher process --out "$1" environment.devices registration.version
}
as_nobody() {
	setpriv --reuid 65534 --regid 65534 --clear-groups "$@"
}

cd "$work"
chmod 755 .
expect_exit 0 run report
for folder in victim/evidence/environment.devices victim/evidence/registration.version home/theirs; do
	mkdir -p $folder
done
cp -r report victim/out # an earlier run's, which a run would replace
echo precious >victim/evidence/environment.devices/file
(cd victim && find . -type f -exec sha256sum {} + | sort) >before
unharmed() {
	(cd victim && find . -type f -exec sha256sum {} + | sort) >after
	diff before after >changes || complain "$1: $(cat changes)"
	[ -z "$(find victim -newer before ! -path victim)" ] || complain "$1: $(find victim -newer before)"
}
chown -h 65534 home home/theirs

# Folders that are refused.
expect_exit 2 run home/theirs
expect_says "home/theirs: belongs to another user (uid 65534)"
mkdir shared
chmod 777 shared
expect_exit 2 run shared
expect_says "chmod go-w"
as_nobody ln -s "$work/victim" home/link
expect_exit 2 run home/link/out
expect_says "symbolic link of another user"
expect_exit 2 run home/link/new
unharmed "a link on the way"
mkfifo pipe
expect_exit 2 run pipe
expect_says "not a directory"

# Links and pipes in a folder of one's own, which others could once write.
cp -r report mine
rm -r mine/evidence mine/report.md
ln -s "$work/victim/evidence" mine/evidence
mkfifo mine/report.md
expect_exit 0 run mine
unharmed "evidence is a link"
[ ! -L mine/evidence ] || complain "evidence is still a link"
rm -r mine/evidence/environment.devices
ln -s "$work/victim/evidence/environment.devices" mine/evidence/environment.devices
expect_exit 0 run mine
unharmed "the evidence of a check is a link"
chown 65534 mine/evidence
expect_exit 2 run mine
expect_says "mine/evidence: belongs to another user"
rm mine/journal.ndjson
mkfifo mine/journal.ndjson
expect_exit 2 run mine
expect_says "mine/journal.ndjson"

# A folder in theirs, which they exchange all the time.
cat >exchange <<'END'
cd home
while [ -e ../attacked ]; do
	mv out away 2>/dev/null && ln -s ../victim out
	rm -f out 2>/dev/null
	mv away out 2>/dev/null
done
END
touch attacked
as_nobody sh exchange >exchange.log 2>&1 &
for _ in 1 2 3 4 5 6; do
	code=0
	run home/out >out 2>err || code=$?
	case $code in
	0 | 2) ;;
	*) complain "attacked, exit code $code: $(head -n 3 err)" ;;
	esac
done
rm attacked
wait
unharmed "the folder is exchanged"
