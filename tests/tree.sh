#!/bin/bash
# SPDX-License-Identifier: MIT
# The rules of the tree that a compiler does not check (layout, wall
# between probes and tool, style).
set -u
shopt -s lastpipe	# the counters live here, not in a pipe's last process
cd "$(dirname "$0")/.." || exit 1
pass=0 fail=0
# Also those that are new and not committed yet.
files() { git ls-files -co --exclude-standard "$@" 2>/dev/null || find . -type f | sed 's,^\./,,'; }
# must_be_empty NAME: the lines on stdin are offences
must_be_empty() {
	local lines
	lines=$(cat)
	if [ -z "$lines" ]; then
		pass=$((pass + 1))
	else
		fail=$((fail + 1))
		printf 'not ok tree %s: %s\n' "$1" "$(printf '%s\n' "$lines" | head -n 1)"
		printf '%s\n' "$lines" | sed 's/^/    /'
	fi
}
src=$(files '*.c' '*.h')

files 'tests/live/*.sh' | grep -vE '[/_]lib\.sh$' | while read -r suite; do
	grep -qF "$suite" Makefile tests/versions.sh || echo "$suite"
done | must_be_empty 'the Makefile or versions.sh runs every suite'
grep -lE '#[ \t]*include[ \t]*<(n?curses|ncursesw/)' $src | grep -v '^tui/terminal/screen_internal\.h$' |
	must_be_empty 'only tui/terminal/screen_internal.h includes curses'
grep -nE '#[ \t]*include[ \t]*[<"](n?curses|ncursesw|lttng|babeltrace2|CL/|cuda|cupti)' \
	$(files 'model/*.[ch]' 'keymap/*.[ch]') /dev/null | must_be_empty 'model and keymap include no foreign header'
grep -nE '#[ \t]*include[ \t]*[<"](protobuf-c|yajl|zlib|.*\.pb-c\.h)' \
	$(files 'model/*.[ch]' 'keymap/*.[ch]' 'tui/*.[ch]' | grep -vE '^model/(im|ex)port/') /dev/null |
	must_be_empty 'what packs and unpacks foreign files stays in model/import and model/export'
files '*.proto' | grep -v '^model/formats/' | must_be_empty 'the messages of other formats are declared in model/formats'
grep -nE '#[ \t]*include[ \t]*"(tui|probes)/' $(files 'model/*.[ch]' 'keymap/*.[ch]') /dev/null |
	grep -vE '^model/event\.h:[0-9]*:#include "probes/schema/(records|values)_table\.h"$' |
	must_be_empty 'model and keymap do not look up'
grep -nE '#[ \t]*include[ \t]*"model/[a-z]+/' $(files 'tui/*.[ch]') | grep -vE '"model/(base/|query/|columns/|filter/filter\.h|analyses/thresholds|recording/(export|image)\.h|import/import\.h|export/(foreign|snapshots)\.h|synth/synth\.h)' |
	must_be_empty 'the screen asks through model/query and the doors'
grep -nE '#[ \t]*include[ \t]*"model/' $(files 'keymap/*.[ch]') /dev/null | must_be_empty 'keymap is a leaf'
grep -nE '#[ \t]*include[ \t]*"(model|tui|keymap)/' \
	$(files 'probes/*.[ch]' | grep -vE '^probes/(session|process|attach/[^s])') /dev/null | must_be_empty 'probes include nothing of the tool'
grep -nE '#[ \t]*include[ \t]*"tui/' $(files 'probes/*.[ch]') /dev/null | must_be_empty 'probes do not know the screen'
grep -LE 'SPDX-License-Identifier: MIT' $src $(files '*.sh' '*.py' Makefile) | must_be_empty 'SPDX line in each file'
wc -l $src | awk '$2 != "total" && $1 > 600 { print $2 ": " $1 " lines" }' | must_be_empty 'files up to 600 lines'
grep -nE '\? "" : "e?s"' $(files 'model/*.c' 'tui/*.c' 'probes/session/*.c') | grep -v '^model/base/util\.c:' |
	must_be_empty 'fmt_many() says one and many'
grep -nE '\b(TODO|FIXME|XXX|HACK)\b' $src | must_be_empty 'nothing marked unfinished'
{ tests/tree/columns.py $src $(files '*.def'); } 2>&1 | must_be_empty 'lines up to 100 columns'
{ tests/tree/names.py; } 2>&1 | must_be_empty 'names explain themselves in a backtrace, functions are up to 60 lines'
if [ -x "${O:-build}/tftop" ]; then
	{ tests/tree/rooms.py; } 2>&1 | must_be_empty 'rooms use what lies below them'
	{ tests/tree/unused.py; } 2>&1 | must_be_empty 'what no other file uses is static or gone'
fi
# A program under test may sleep; a suite itself waits for conditions.
grep -nE '^[ \t]*sleep [0-9]' $(files 'tests/*.sh') | must_be_empty 'tests wait for conditions'
# Other suites run the same programs beside this one: a process is found by who started it, by a
# file that it writes or by a mark in its environment (tests/lib.sh).
{
	grep -nE '\b(pgrep|pkill|killall|pidof)\b' $(files 'tests/*.sh' 'tests/*.py' .ci/run Makefile | grep -v '^tests/tree\.sh$')
	grep -nE '/proc/(\*|\[0-9\]\*)' $(files 'tests/*.sh' | grep -v '^tests/tree\.sh$') | grep -v '/environ'
} | must_be_empty 'tests find no process by its name'
# Beside the program's threads, which may change the environment meanwhile: rt_env().
grep -nE '\bgetenv\(' $(files 'probes/runtime/*.c' 'probes/host/*.c' 'probes/jax/*.c' 'probes/tensorflow/*.c' \
	'probes/pytorch/*.c' probes/nvtx/late.c) | grep -v '^probes/runtime/env\.c' |
	must_be_empty 'threads of the runtime call no getenv()'
# What a probe library may need: LTTng-UST, libc and our runtime.
for lib in "${O:-build}"/lib/libtftop[-_]*.so; do
	[ -e "$lib" ] || continue
	readelf -d "$lib" | sed -n 's/.*(NEEDED).*\[\(.*\)\]/\1/p' |
		grep -vE '^(libc\.so|libdl\.so|libpthread\.so|liblttng-ust|libtftop-runtime|ld-linux|libasan|libubsan|libtsan|libgcc_s)' |
		sed "s,^,${lib##*/} needs ,"
done | must_be_empty 'probes link LTTng-UST and libc only'
for lib in "${O:-build}"/lib/libtftop-{start,attach}.so "${O:-build}"/lib/libtftop_pluggable.so; do
	[ -e "$lib" ] && readelf -d "$lib" | grep -oE 'lttng[^]]*|libtftop-[^]]*\]'
done | grep -vE 'libtftop-(start|attach)' | must_be_empty 'what is preloaded, injected or plugged in needs libc only'
# What users read knows every option, key and command.
if [ -x "${O:-build}/tftop" ]; then
	tests/manpage.sh "${O:-build}/tftop" docs/tftop.1.in | diff -u docs/tftop.1 - |
		must_be_empty 'docs/tftop.1 is what "make docs" makes'
	tests/manpage.sh "${O:-build}/tftop" docs/tftoprc.5.in | diff -u docs/tftoprc.5 - |
		must_be_empty 'docs/tftoprc.5 is what "make docs" makes'
	for shell in bash zsh fish; do
		"${O:-build}/tftop" --print=$shell | diff -u docs/tftop.$shell - |
			must_be_empty "docs/tftop.$shell is what \"make docs\" makes"
	done
	"${O:-build}/tftop" --help | grep -oE '(^|[ ,] *)--?[a-zA-Z][a-z-]*' | tr -d ' ,' | grep -vx -e -itt | sort -u |
		while read -r option; do
			sed 's/\\//g' docs/tftop.1 | grep -qF -- "$option" || echo "docs/tftop.1: $option"
		done | must_be_empty 'the man page knows every option'
fi
{
	grep -ohE 'json_[a-z_]+\([^,"]+, *"[a-z0-9_]+"' tui/report/*.c
	grep -ohE '\.json = "[a-z0-9_]+"' model/columns/*.c
	grep -ohE '\.key = "[a-z0-9_]+"' tui/report/sections.c
} | sed 's/.*"\(.*\)"/\1/' | sort -u |
	while read -r key; do
		grep -qwF -- "$key" docs/report.md || echo "$key: docs/report.md does not say what it is"
	done | must_be_empty 'docs/report.md knows every key of the report'
tests/schema_page.py | diff -u docs/schema.md - | must_be_empty 'docs/schema.md is what "make docs" makes'
# What is judged has a name that users can read about.
sed -n 's/^\tX([A-Z_0-9]*, "\([a-z-]*\)", .*/\1/p' model/analyses/thresholds.h |
	while read -r name; do
		grep -qF -- "\`$name\`" docs/analyses.md || echo "threshold $name: name it as \`$name\` there, with its default"
	done | must_be_empty 'docs/analyses.md explains every threshold'
for finding in $(grep -h '\.id = ' model/analyses/*.c | grep -o '"[a-z-]*"' | tr -d '"' | sort -u); do
	grep -qF -- "**$finding**" docs/analyses.md || echo "finding $finding: a paragraph there begins with **$finding**"
done | must_be_empty 'docs/analyses.md explains every finding'
for page in docs/glossary.md docs/architecture.md CONTRIBUTING.md; do
	grep -hoE '`(docs|examples|keymap|model|probes|tests|tui)/[A-Za-z_0-9.*/-]+`' "$page" | tr -d '`' | sort -u |
		while read -r path; do
			compgen -G "$path" >/dev/null || echo "$page: $path: there is no such file"
		done
done | must_be_empty 'the glossary, the architecture and CONTRIBUTING.md name files of the tree'
echo "$pass passed, $fail failed, 0 skipped"
[ "$fail" -eq 0 ]
