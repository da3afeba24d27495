#!/bin/sh
# SPDX-License-Identifier: MIT
# A run's report goes to a real registry and to a real web server and comes back, also when it is killed on the way.
# usage: test_publish.sh BIN SOURCE VALIDATE
. "$(dirname "$0")/lib.sh"

source=$2
validate=$3
PATH=$PATH:/usr/sbin
for program in docker-registry node openssl nginx; do
	command -v $program >"$work/program" || skip "$program is not installed"
done

started=
trap 'code=$?; for pid in $started; do kill "$pid"; done; [ $code -eq 0 ] || failures=1; finish' EXIT

cd "$work"
export DOCKER_CONFIG="$work"
unset GPUCERT_TOKEN || true

# start FOLDER SCRIPT: a double below the sources, whose ports are in $ports afterwards.
start() {
	mkdir "$1"
	mkfifo "$1.fifo"
	node "$source/$2" "$1" >"$1.fifo" &
	started="$started $!"
	read -r ports <"$1.fifo" || {
		echo "FAILED: $2 does not start" >&2
		exit 1
	}
}
port() {
	printf '%s' "$ports" | grep -oE "\"$1\":[0-9]+" | cut -d : -f 2
}
# result MEMBER: of the JSON that the last command printed.
result() {
	node -e 'console.log(JSON.parse(require("fs").readFileSync(process.argv[1]))[process.argv[2]])' out "$1"
}
expect_moved() {
	node "$validate" "$source/reports/schema/publication.schema.json" out >valid 2>&1 || complain "not valid: $(cat valid)"
	[ "$(result movedFiles)" = "$1" ] || complain "$(result movedFiles) files were moved, expected $1"
}

expect_exit 0 gpucert run --launcher process --out report environment.devices registration.arrives
files=$(find report -type f | wc -l)
echo mine >report/notes.txt # is not the run's, and stays here

# A registry.
start rig containers/registry/doubles/registry_rig.mjs
plain=127.0.0.1:$(port plain)
tls=localhost:$(port password)
expect_exit 0 gpucert publish --json --receipt receipt report "oci://$plain/reports:1"
expect_moved "$files"
cmp -s out receipt || complain "the receipt is not what was printed"
digest=$(result digest)
expect_exit 0 gpucert publish --json report "oci://$plain/reports:1"
expect_moved 0
[ "$(result digest)" = "$digest" ] || complain "the same folder has another digest"
expect_exit 0 gpucert pull "oci://$plain/reports:1" -o from-registry
expect_says "@$digest: $files files"
rm report/notes.txt
diff -r report from-registry || complain "what was pulled differs"
expect_exit 0 gpucert pull --json "oci://$plain/reports@$digest" -o from-registry
expect_moved 0
expect_exit 0 gpucert report from-registry
expect_exit 3 gpucert publish --within 60 --receipt none report "oci://$tls/reports:1"
[ ! -e none ] || complain "a receipt is written, and nothing was published"
expect_says "--ca-certificate"
expect_exit 3 gpucert publish --ca-certificate rig/ca.crt report "oci://$tls/reports:1"
expect_says "docker login"
if command -v skopeo >"$work/program"; then
	skopeo inspect --raw --tls-verify=false "docker://$plain/reports:1" >manifest.json
	[ "sha256:$(sha256sum manifest.json | cut -d ' ' -f 1)" = "$digest" ] || complain "skopeo sees another manifest"
fi

# A web server with TLS and a token.
free_port() {
	node -e 'const s = require("net").createServer().listen(0, "127.0.0.1", () => { console.log(s.address().port); s.close(); })'
}
mkdir web
chmod 755 "$work"
web=$(free_port)
cat >nginx.conf <<END
daemon off;
$([ "$(id -u)" -ne 0 ] || echo 'user root;')
pid $work/nginx.pid;
error_log $work/nginx.log;
events {}
http {
	access_log $work/access.log;
	client_body_temp_path $work/web.tmp;
	proxy_temp_path $work/proxy.tmp;
	fastcgi_temp_path $work/fastcgi.tmp;
	uwsgi_temp_path $work/uwsgi.tmp;
	scgi_temp_path $work/scgi.tmp;
	client_max_body_size 64m;
	server {
		listen 127.0.0.1:$web ssl;
		ssl_certificate $work/rig/tls.crt;
		ssl_certificate_key $work/rig/tls.key;
		root $work/web;
		dav_methods PUT;
		create_full_put_path on;
		if (\$http_authorization != "Bearer open-sesame") {
			return 401;
		}
	}
}
END
nginx -e "$work/nginx.log" -c "$work/nginx.conf" &
started="$started $!"
until node -e "require('net').connect($web, '127.0.0.1').on('connect', () => process.exit(0)).on('error', () => process.exit(1))"; do
	kill -0 "${started##* }" || { cat nginx.log >&2; exit 1; }
	sleep 0.1
done
place=https://localhost:$web/2026/run-1
export SSL_CERT_FILE="$work/rig/ca.crt"
expect_exit 3 gpucert publish report "$place"
expect_says "a token is required: GPUCERT_TOKEN or --token-file"
echo wrong-sesame >token
expect_exit 3 gpucert publish --token-file token report "$place"
expect_says "the token is not accepted"
! grep -q sesame out err || complain "the token is told"
[ -z "$(ls web)" ] || complain "somebody without a token has put something there"
echo open-sesame >token
expect_exit 0 gpucert publish --json --token-file token report "$place"
expect_moved "$files"
[ "$(result digest)" = "$digest" ] || complain "the digest is another than the registry's"
: >access.log
expect_exit 0 env GPUCERT_TOKEN=open-sesame gpucert publish --json report "$place"
expect_moved 0
! grep -q PUT access.log || complain "what is there is sent again"
expect_exit 0 gpucert pull --token-file token "$place@$digest" -o from-web
diff -r report from-web || complain "what was pulled differs"
expect_exit 3 gpucert pull --token-file token "$place@sha256:$(printf '%064d' 0)" -o never
[ ! -e never ] || complain "a report with another digest was pulled"
rm from-web/junit.xml
expect_exit 0 gpucert pull --json --token-file token "$place" -o from-web
expect_moved 1
echo '{}' >from-web/report.json
expect_exit 3 gpucert pull --token-file token "$place" -o from-web
expect_says "pull into another folder"

# A pull that is killed goes on where it was.
start store reports/certificates/publish/doubles/http_store.mjs
store=http://127.0.0.1:$(port store)
expect_exit 0 gpucert publish report "$store/plain/r"
gpucert pull "$store/get-stuck/r" -o killed >killed.out 2>&1 &
pull=$!
until [ -n "$(find killed -type f -name '.pull-*' -size +1k 2>find.err)" ]; do
	kill -0 $pull || { cat killed.out >&2; exit 1; }
	sleep 0.1
done
kill -9 $pull
wait $pull || true
[ ! -e killed/journal.ndjson ] || complain "a file has its name before the report was verified"
had=$(wc -c <"$(find killed -name '.pull-*')")
: >store/recorded
expect_exit 0 gpucert pull --json "$store/plain/r" -o killed
diff -r report killed || complain "what was pulled differs: $(ls -a killed)"
grep -qF " bytes=$had-" store/recorded || complain "it does not go on behind byte $had: $(cat store/recorded)"

# What was attested here is verified there, with the public key alone.
expect_exit 0 gpucert key generate key
expect_exit 0 gpucert attest report --key key
expect_exit 0 gpucert publish --json report "oci://$plain/reports:attested"
expect_moved 1
expect_exit 0 gpucert pull "oci://$plain/reports:attested" -o attested
expect_exit 0 gpucert verify attested --key key.pub

# What was changed after the run is not published, and a place is told apart from others.
echo '{}' >"report/$(cd report && find evidence -type f | head -n 1)"
expect_exit 3 gpucert publish report "oci://$plain/reports:2"
expect_says "1 fault, the first: evidence/"
expect_exit 3 gpucert pull "oci://$plain/reports:2" -o never
expect_exit 2 gpucert publish report
expect_exit 2 gpucert publish report ftp://localhost/a
expect_exit 2 gpucert publish report http://reports.example.com/a
expect_says "everybody on the way can read"
expect_exit 2 gpucert pull "oci://$plain/reports:1"
expect_says "--out"
