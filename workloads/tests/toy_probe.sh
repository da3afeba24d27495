#!/bin/sh
# SPDX-License-Identifier: MIT
# toy_probe.sh SOURCE WORK: adds the probe of template/ to a copy of the tree as workloads/README.md says, builds it and
# what lists the APIs, and shows that the probe works and has its check, and that this took one folder and one row.
set -eu

source=$1
work=$2
tree=$work/tree
build=$work/build

fail() {
	echo "toy_probe: $*" >&2
	exit 1
}

command -v git >/dev/null || exit 77
rm -rf "$work"
mkdir -p "$tree"
trap 'rm -rf "$work"' EXIT

# The tree with its changes, without what git ignores; where it is no clone, what git would take of it.
git init -q "$tree"
(cd "$source" && GIT_DIR=$tree/.git GIT_WORK_TREE=$source git ls-files --others --exclude-standard) >"$work/files"
tar cf - -C "$source" -T "$work/files" | tar xf - -C "$tree"
cd "$tree"
git add -A
git -c user.name=toy -c user.email=toy@localhost commit -q -m before

mkdir workloads/toy
cp workloads/tests/template/CMakeLists.txt workloads/tests/template/toy.c workloads/toy/
sed -n '/^API(/,$p' workloads/tests/template/row.def >"$work/row"
sed -i "/^API(dxcore/{
e cat '$work/row'
}" base/gpu_apis.def

# One folder and one row.
git add -A
git diff --cached --stat
changed=$(git diff --cached --name-only | grep -v '^workloads/toy/' || true)
[ "$changed" = base/gpu_apis.def ] || fail "more than the row was changed: $changed"
[ "$(git diff --cached --numstat base/gpu_apis.def | cut -f 2)" = 0 ] || fail "other rows were changed"

if ! cmake -G Ninja -S . -B "$build" -DBUILD_TESTING=OFF -DGPUCERT_WERROR=ON -DCMAKE_BUILD_TYPE= -DCMAKE_C_FLAGS=-O0 >"$work/log" 2>&1 ||
	! cmake --build "$build" --target gpucert probe-toy probe-visibility >>"$work/log" 2>&1; then
	tail -n 40 "$work/log" >&2
	fail "the tree with the toy probe does not build"
fi

"$build/libexec/gpucert/probe-toy" --help | grep -q 'Run verified work on a Toy device' || fail "probe-toy has no help"
"$build/libexec/gpucert/probe-toy" --seed 4711 | grep -q '"status":"ok","verified":true' || fail "probe-toy does not work"
"$build/libexec/gpucert/probe-visibility" | grep -q '"name":"toy","status":"ok"' || fail "probe-visibility does not ask Toy"
"$build/bin/gpucert" list api.toy | grep -q 'api\.toy' || fail "there is no check api.toy"
