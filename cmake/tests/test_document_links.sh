#!/bin/sh
# SPDX-License-Identifier: MIT
# test_document_links.sh CHECKER: links that lead nowhere are found, others are not complained about.
set -eu
checker=$1

place=$(mktemp -d)
trap 'rm -rf "$place"' EXIT
mkdir "$place/docs"
cat >"$place/docs/there.md" <<'END'
# Title
## A heading, with `code`
END
good='[a](docs/there.md) [b](docs/there.md#a-heading-with-code) [c](https://example.com/none.md) docs/there.md'
printf '# Top\n%s\n[d](#top)\n```\n[e](none.md)\n```\n' "$good" >"$place/README.md"
"$checker" "$place" || {
	echo "links that are good were complained about"
	exit 1
}
printf '# Index\n' >"$place/docs/README.md"
if "$checker" "$place" >/dev/null; then
	echo "not found: a document that the index does not name"
	exit 1
fi
printf '# Index\n[there](there.md)\n' >"$place/docs/README.md"
"$checker" "$place"
for bad in '[a](none.md)' '[a](docs/there.md#none)' '[a](#none)' 'see docs/none.md'; do
	printf '# Top\n%s\n' "$bad" >"$place/README.md"
	if "$checker" "$place" >/dev/null; then
		echo "not found: $bad"
		exit 1
	fi
done
