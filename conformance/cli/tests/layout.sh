# SPDX-License-Identifier: MIT
# shellcheck shell=sh
# OCI image layouts for the end-to-end tests, made without layers.

# blob LAYOUT TEXT: stores it and prints its digest.
blob() {
	mkdir -p "$1/blobs/sha256"
	printf '%s' "$2" >"$1/blob"
	digest=$(sha256sum <"$1/blob" | cut -c 1-64)
	mv "$1/blob" "$1/blobs/sha256/$digest"
	printf 'sha256:%s' "$digest"
}

# entry LAYOUT CONFIGURATION [PLATFORM]: one of its index, separated from those before by a comma.
entry() {
	configuration=$(blob "$1" "$2")
	manifest='{"schemaVersion":2,"mediaType":"application/vnd.oci.image.manifest.v1+json","config":{"mediaType":"application/vnd.oci.image.config.v1+json","digest":"'$configuration'","size":'${#2}'},"layers":[]}'
	printf '%s{"mediaType":"application/vnd.oci.image.manifest.v1+json","digest":"%s","size":%s%s}' \
		"$([ ! -e "$1/entries" ] || echo ,)" "$(blob "$1" "$manifest")" "${#manifest}" "${3:+,\"platform\":$3}" >"$1/entry"
	cat "$1/entry" >>"$1/entries"
	printf '{"imageLayoutVersion":"1.0.0"}' >"$1/oci-layout"
	printf '{"schemaVersion":2,"manifests":[%s]}' "$(cat "$1/entries")" >"$1/index.json"
}
