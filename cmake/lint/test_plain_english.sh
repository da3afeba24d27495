#!/bin/sh
# SPDX-License-Identifier: MIT
# test_plain_english.sh NODE: clean texts pass plain_english.mjs, and every pattern is able to fail, in Markdown and in C.
set -eu

node=$1
here=$(cd "$(dirname "$0")" && pwd)
tree=$(mktemp -d)
trap 'rm -rf "$tree"' EXIT
failed=0
mkdir -p "$tree/tests"

cat >"$tree/good.md" <<'END'
Leave it alone: `told` is code, [text](told.md#told) is a link's target, and there is no GPU. It is no longer used. It stands alone.
```
told alone
```
END
printf '/* told alone */ int told; const char *name = "told"; char c = %s; const char *text = "no \\"such\\" thing"; // told\n' "'\"'" >"$tree/good.c"
printf 'const char *text = "is told alone";\n' >"$tree/tests/double.c"
if ! output=$("$node" "$here/plain_english.mjs" "$tree"); then
	echo "clean texts give: $output"
	failed=1
fi

while IFS= read -r text; do
	for file in bad.md bad.c; do
		case $file in
		*.md) printf '# Title\n\nA sentence\nthat %s here.\n' "$text" >"$tree/$file" ;;
		*) printf 'int f(void);\nchar *a = "A sentence that "\n\t"%s";\n' "$(printf '%s' "$text" | sed 's/ /"\n\t" /')" >"$tree/$file" ;;
		esac
		if output=$("$node" "$here/plain_english.mjs" "$tree"); then
			echo "$file passes: $text"
			failed=1
		elif [ "$(printf '%s\n' "$output" | wc -l)" != 1 ] || ! printf '%s\n' "$output" | grep -q "^$file:[34]: "; then
			echo "$file gives: $output"
			failed=1
		fi
		rm "$tree/$file"
	done
done <<'END'
is told later
stays untold now
we cannot tell yet
stands on it
stood on it
which is there already
shows what there is now
which is said of it
was let go
is the way of the results
works as far as known
leads elsewhere now
is the same once more
is of the driver
is no GPU at all
is read alone
goes on serving
is demanded of it
END
exit $failed
