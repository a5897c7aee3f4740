#!/bin/bash
# SPDX-License-Identifier: MIT
# What is completed behind "tftop", in a real bash, zsh and fish.
shopt -s lastpipe	# the counters live here, not in a pipe's last process
cd "$(dirname "$0")/.." || exit 1
work=$(mktemp -d) || exit 1
trap 'rm -rf "$work"' EXIT
passed=0 failed=0 skipped=0
# check NAME WANTED: all these words are among the lines on stdin
check() {
	local lines word
	lines=$(cat)
	for word in $2; do
		if ! grep -qxF -- "$word" <<<"$lines"; then
			echo "not ok completion $1: no '$word' among $(head -c 300 <<<"$lines" | tr '\n' ' ')"
			failed=$((failed + 1))
			return
		fi
	done
	passed=$((passed + 1))
}
in_bash() {
	bash --norc -c '. docs/tftop.bash; COMP_WORDS=("$@"); COMP_CWORD=$(($# - 1)); compopt() { :; }
		_tftop; printf "%s\n" "${COMPREPLY[@]}"' bash "$@"
}
in_bash tftop --th | check 'bash: options' --theme
in_bash tftop --theme '' | check 'bash: themes' 'dark light 16 contrast mono'
in_bash tftop --ver | check 'bash: long names of letters' '--verbose --version'
in_bash tftop --export csv:o | check 'bash: formats' 'csv:ops:'
in_bash tftop --level '' | check 'bash: levels' 'off min default full'
in_bash tftop -- bas | check 'bash: programs' bash
if command -v fish >/dev/null; then
	in_fish() { HOME=$work fish --no-config -c "source docs/tftop.fish; complete -C '$1'" | cut -f1; }
	in_fish 'tftop --th' | check 'fish: options' --theme
	in_fish 'tftop --theme ' | check 'fish: themes' 'dark light 16 contrast mono'
	in_fish 'tftop --level ' | check 'fish: levels' 'off min default full'
else
	echo 'skip completion in fish: fish not found'
	skipped=$((skipped + 1))
fi
# zsh completes on a terminal only: one of zpty, Tab, then what was listed.
if command -v zsh >/dev/null; then
	mkdir "$work/fpath" && cp docs/tftop.zsh "$work/fpath/_tftop"
	in_zsh() {
		HOME=$work ZDOTDIR=$work TERM=dumb timeout -k 5 30 zsh -f -c '
			zmodload zsh/zpty
			zpty z zsh -f -i
			zpty -w z "PS1=; unsetopt zle_bracketed_paste; fpath=($2 \$fpath)"
			zpty -w z "autoload -U compinit; compinit -u -D; LISTMAX=10000; bindkey \"^I\" complete-word"
			zpty -w z "print re\"\"ady"
			zpty -r z line "*ready*"
			zpty -n -w z "$1"$'"'\t\t'"'
			zpty -r z line "*$3*" && print -r -- "$line"
			zpty -d z' zsh "$1" "$work/fpath" "$2" | tr -s ' \r\n\t' '\n'
	}
	in_zsh 'tftop --them' '--theme' | check 'zsh: options' --theme
	in_zsh 'tftop --theme ' 'mono' | check 'zsh: themes' 'light contrast mono'
else
	echo 'skip completion in zsh: zsh not found'
	skipped=$((skipped + 1))
fi
echo "$passed passed, $failed failed, $skipped skipped"
[ "$failed" -eq 0 ]
