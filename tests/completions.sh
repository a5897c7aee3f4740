#!/bin/bash
# SPDX-License-Identifier: MIT
# What is completed behind "tftop", in a real bash, zsh and fish.
. "$(dirname "$0")/lib.sh"
# completes WANTED COMMAND…: all these words are among the lines that it says
completes() {
	local lines word
	lines=$("${@:2}")
	for word in $1; do
		grep -qxF -- "$word" <<<"$lines" ||
			fail "no '$word' among $(head -c 300 <<<"$lines" | tr '\n' ' ')" || return
	done
}
in_bash() {
	bash --norc -c '. docs/tftop.bash; COMP_WORDS=("$@"); COMP_CWORD=$(($# - 1)); compopt() { :; }
		_tftop; printf "%s\n" "${COMPREPLY[@]}"' bash "$@"
}
case_run 'bash options' completes --theme in_bash tftop --th
case_run 'bash themes' completes 'dark light 16 contrast mono' in_bash tftop --theme ''
case_run 'bash long names of letters' completes '--verbose --version' in_bash tftop --ver
# What one finds by --help fits on a terminal, and names the ways in.
short_help() {
	local way
	"$tftop" --help >"$work/help" || fail "status $?" || return
	[ "$(wc -l <"$work/help")" -le 24 ] && ! grep -E '.{81}' "$work/help" || fail 'too long' || return
	for way in --join --check --control; do
		grep -qe "$way" "$work/help" || fail "$way is missing" || return
	done
}
case_run 'short help' short_help
case_run 'bash formats' completes 'csv:ops:' in_bash tftop --export csv:o
case_run 'bash formats, as bash divides them' completes 'ops: copies:' in_bash tftop --export csv :
case_run 'bash formats, begun' completes 'ops:' in_bash tftop --export csv : o
case_run 'bash levels' completes 'off min default full' in_bash tftop --level ''
case_run 'bash programs' completes bash in_bash tftop -- bas
if command -v fish >/dev/null; then
	in_fish() { HOME=$tmp fish --no-config -c "source docs/tftop.fish; complete -C '$1'" | cut -f1; }
	case_run 'fish options' completes --theme in_fish 'tftop --th'
	case_run 'fish themes' completes 'dark light 16 contrast mono' in_fish 'tftop --theme '
	case_run 'fish levels' completes 'off min default full' in_fish 'tftop --level '
else
	case_run fish skip 'fish not found'
fi
# zsh completes on a terminal only: one of zpty, Tab, then what was listed.
if command -v zsh >/dev/null; then
	mkdir "$tmp/fpath" && cp docs/tftop.zsh "$tmp/fpath/_tftop"
	in_zsh() {
		HOME=$tmp ZDOTDIR=$tmp TERM=dumb timeout -k 5 30 zsh -f -c '
			zmodload zsh/zpty
			zpty z zsh -f -i
			zpty -w z "PS1=; unsetopt zle_bracketed_paste; fpath=($2 \$fpath)"
			zpty -w z "autoload -U compinit; compinit -u -D; LISTMAX=10000; bindkey \"^I\" complete-word"
			zpty -w z "print re\"\"ady"
			zpty -r z line "*ready*"
			zpty -n -w z "$1"$'"'\t\t'"'
			zpty -r z line "*$3*" && print -r -- "$line"
			zpty -d z' zsh "$1" "$tmp/fpath" "$2" | tr -s ' \r\n\t' '\n'
	}
	case_run 'zsh options' completes --theme in_zsh 'tftop --them' '--theme'
	case_run 'zsh themes' completes 'light contrast mono' in_zsh 'tftop --theme ' 'mono'
else
	case_run zsh skip 'zsh not found'
fi
suite_end
