#!/bin/sh
# SPDX-License-Identifier: MIT
# installed_completions.sh PREFIX: bash and zsh find the completions of every program in the tree by its name,
# and they complete.
set -eu
prefix=$1
broken=0
tested=0
export XDG_DATA_DIRS="$prefix/share" PATH="$prefix/bin:$PATH"
loader=/usr/share/bash-completion/bash_completion

complain() {
	echo "$*"
	broken=1
}

# completes WANTED WORDS...: bash offers WANTED (words joined by spaces) for the last of WORDS.
completes() {
	wanted=$1
	shift
	# shellcheck disable=SC2016 # for the inner shell
	saw=$(bash --norc -u -c '. "$0" 2>/dev/null && _completion_loader "$1"
		COMP_WORDS=("$@") COMP_CWORD=$(($# - 1))
		"$(complete -p "$1" | sed "s/.*-F \([^ ]*\).*/\1/")" "$1"
		echo "${COMPREPLY[*]}"' "$loader" "$@" 2>&1)
	[ "$(echo "$saw" | sed 's/ *$//')" = "$wanted" ] || complain "bash, $*: offers '$saw', expected '$wanted'"
}

# zsh_completes WANTED PROGRAM WORDS...: the same of zsh, whose own functions print what they would offer.
zsh_completes() {
	wanted=$1
	shift
	# shellcheck disable=SC2016 # for the inner shell
	saw=$(zsh -f -c 'script=$1 words=("${@:2}") CURRENT=$(($# - 1)) PREFIX=${@[-1]}
		_files() { print -n -- "files${1:+ $1} " }
		_command_names() { print -n "commands " }
		_describe() { print -rn -- "${(@P)2} " }
		compset() { PREFIX=${PREFIX#*=} }
		. "$script" || true' zsh "$prefix/share/zsh/site-functions/_$1" "$@" 2>&1)
	[ "$(echo "$saw" | sed 's/ *$//')" = "$wanted" ] || complain "zsh, $*: offers '$saw', expected '$wanted'"
}

if [ -f "$loader" ]; then
	completes run gpucert ru
	completes kubelet gpucert kub
	completes build gpucert image bu
	completes --out gpucert image build compute --ou
	completes --plugin-dir gpucert kubelet --plugin-
	completes "containerd process" gpucert run --launcher ''
	completes "containerd process" gpucert run --launcher =
	completes process gpucert run --launcher = p
	completes isolation.single-device gpucert run isolation.si
	completes allocate.one-response gpucert show allocate.one-r
	completes directx-device-plugins gpucert run --expect directx-device-
	completes nvidia-windows gpucert expect check nvi
	completes "$prefix/bin/gpucert" gpucert run --node "$prefix/bin/gpuc"
	completes "$prefix/share" gpucert run --out "$prefix/sh"
	completes "" gpucert run --windows-programs "$prefix/bin/gpuc"
	completes "" gpucert nothing --out x
	completes --require gpu-discovery --req
	completes --print-config device-plugin-gpu --print
	completes "spread pack" device-plugin-gpu --preferred-allocation ''
	tested=1
fi
if command -v zsh >/dev/null; then
	for program in "$prefix"/bin/*; do
		name=$(basename "$program")
		# shellcheck disable=SC2016 # for the inner shell
		saw=$(zsh -f -c 'fpath=("$1/share/zsh/site-functions" $fpath)
			autoload -Uz compinit && compinit -u -D
			autoload +X -Uz "_$2" && echo "${_comps[$2]}"' zsh "$prefix" "$name" 2>&1)
		[ "$saw" = "_$name" ] || complain "zsh, $name: '$saw', expected '_$name'"
	done
	zsh_completes "run:Run the checks and write a report" gpucert ru
	zsh_completes "containerd process" gpucert run --launcher ''
	zsh_completes process gpucert run --launcher=p
	zsh_completes "files -/" gpucert report ''
	zsh_completes files gpucert run --node ''
	zsh_completes isolation.single-device gpucert run isolation.si
	tested=1
fi
[ $tested -eq 1 ] || {
	echo "skipped: neither bash-completion nor zsh"
	exit 77
}
exit $broken
