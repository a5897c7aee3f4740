#!/bin/sh
# SPDX-License-Identifier: MIT
# syntax.sh COMPILER ARGUMENT…: calls it with -fsyntax-only, and leaves an empty file where the
# object would be, so that make knows what was looked at.
compiler=$1
shift
case " $* " in
*' -c '*) ;;
*) exec "$compiler" "$@" ;;
esac
"$compiler" -fsyntax-only "$@" || exit
while [ $# -gt 0 ]; do
	[ "$1" != -o ] || : >"$2"
	shift
done
