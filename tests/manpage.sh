#!/bin/sh
# SPDX-License-Identifier: MIT
# manpage.sh TFTOP TEMPLATE: the man page, with keys, commands and settings as
# the program's own tables have them ("make docs"; tests/tree.sh compares).
set -eu
tftop=$1 template=$2
awk_common='
function roff(s) { gsub(/\\/, "\\e", s); gsub(/-/, "\\-", s); gsub(/"/, "\\(dq", s); return s }
function item(head, text) {
	text = roff(text)
	if (text ~ /^[.\047]/) text = "\\&" text
	print ".TP\n.B \"" roff(head) "\"\n" text
}'
# Keys of one command and table stand together.
keys() {
	"$tftop" --print=keys | awk -F'\t' "$awk_common"'
	{ id = $1 SUBSEP $3; if (!(id in keys)) order[++n] = id
	  keys[id] = keys[id] (keys[id] ? "  " : "") $2; table[id] = $1; command[id] = $3 }
	END { for (i = 1; i <= n; i++) {
		id = order[i]
		if (table[id] != last) print ".SS \"" (table[id] == "generic" ? "everywhere" : table[id]) "\""
		last = table[id]; item(keys[id], command[id]) } }'
}
commands() {
	"$tftop" --print=commands | awk -F'\t' "$awk_common"'
	function within(on) { if (on != inside) print on ? ".RS" : ".RE"; inside = on }
	$1 == "" { within(1); if ($2) item($2, $3); else print ".PP\n" roff($3); next }
	{ within(0); if ($3 != last) print ".SS \"" $3 "\""
	  last = $3; item($1 ($4 ? " " $4 : "") ($2 ? "  (" $2 ")" : ""), $6) }
	END { within(0) }'
}
settings() {
	"$tftop" --print=settings | awk -F'\t' "$awk_common"'
	{ item($1 " = " ($3 ? $3 : "VALUE"), $4 ($2 ? "; at first " $2 : "")) }'
}
fields() {
	"$tftop" --print=filters | awk -F'\t' "$awk_common"'{ item($1 ", " $2, $3) }'
}
version=$("$tftop" --version | sed -n '1s/^tftop //p')
while IFS= read -r line; do
	case $line in
	'.\" @KEYS@') keys ;;
	'.\" @COMMANDS@') commands ;;
	'.\" @SETTINGS@') settings ;;
	'.\" @FIELDS@') fields ;;
	*) printf '%s\n' "$line" | sed "s/@VERSION@/$version/" ;;
	esac
done <"$template"
