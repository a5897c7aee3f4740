#!/bin/bash
# SPDX-License-Identifier: MIT
# tests/run.sh on suites that were made for it: what fails once is run once more, alone, and is
# told as flaky when it passes then; what fails twice, hangs or dies fails the run.
. "$(dirname "$0")/lib.sh"
unset CI ONLY JOBS TIMING CASE

# suite NAME: makes it of the cases on stdin, in bash
suite() {
	{
		echo '#!/bin/bash'
		echo ". $here/tests/lib.sh"
		echo "at=$work"
		# first NAME: it is asked for the first time
		echo 'first() { [ ! -e "$at/$1" ] && : >"$at/$1"; }'
		cat
	} >"$work/$1" && chmod +x "$work/$1"
}
# runs STATUS LAST SUITE…: the runner's exit status, and what it says at the end
runs() {
	local status=$1 last=$2
	shift 2
	(cd "$work" && O=$work/out SUITE_TIMEOUT=2 "$here/tests/run.sh" "$@" >"$work/said" 2>&1)
	is status $? "$status" && is 'last lines' "$(tail -n 2 "$work/said" | tr '\n' '.')" "$last." ||
		{ sed 's/^/# /' "$work/said"; return 1; }
}
says() { grep -qE -- "$1" "$work/said" || { sed 's/^/# /' "$work/said"; fail "not said: $1"; }; }
says_not() { ! grep -qE -- "$1" "$work/said" || { sed 's/^/# /' "$work/said"; fail "said: $1"; }; }

well() {
	suite a <<'END'
case_run one true
case_run two skip 'a GPU'
suite_end
END
	runs 0 '0 flaky.1 passed, 0 failed, 1 skipped' ./a && says '^skip two: a GPU$'
}
# Only the case itself is run again, not one whose name contains its name.
passes_alone() {
	suite a <<'END'
sometimes() { echo "what it did"; ! first sometimes || fail 'not yet'; }
others() { echo ran >>"$at/ran"; }
case_run same others
case_run sometimes sometimes
case_run sometimes-not others
suite_end
END
	runs 0 '1 flaky.3 passed, 0 failed, 0 skipped' ./a && says '^not ok sometimes: not yet$' &&
		says '^flaky sometimes: failed first, passed alone' && says '^    \| what it did$' &&
		says '^    \| ok sometimes$' && says '^flaky: sometimes of ./a$' || return
	is 'runs of the others' "$(wc -l <"$work/ran")" 2 &&
		grep -q '^not ok sometimes' "$work/out/flaky/a.sometimes.first" &&
		grep -q '^ok sometimes' "$work/out/flaky/a.sometimes.alone"
}
fails_twice() {
	suite a <<'END'
case_run never fail 'as ever'
case_run always true
suite_end
END
	runs 1 '0 flaky.1 passed, 1 failed, 0 skipped' ./a && says '^not ok never: failed again, alone'
}
# What runs again has nothing beside it.
alone() {
	suite a <<'END'
apart() { ! first apart && [ ! -e "$at/busy" ]; }
case_run apart apart
suite_end
END
	suite b <<'END'
long() { : >"$at/busy"; pause 1; rm "$at/busy"; }
case_run long long
suite_end
END
	runs 0 '1 flaky.2 passed, 0 failed, 0 skipped' ./a ./b
}
hangs() {
	suite a <<'END'
first hangs && pause 60
case_run one true
suite_end
END
	runs 0 '1 flaky.1 passed, 0 failed, 0 skipped' ./a && says 'no closing line, exit status 124' &&
		says '^flaky ./a: ' || return
	suite a <<'END'
case_run one true
pause 60
END
	runs 1 '0 flaky.0 passed, 1 failed, 0 skipped' ./a
}
dies() {
	suite a <<'END'
case_run one true
first dies && kill -KILL $$
case_run two true
suite_end
END
	runs 0 '1 flaky.2 passed, 0 failed, 0 skipped' ./a || return
	suite a <<'END'
case_run one true
echo '1 passed, 0 failed, 0 skipped'
exit 3
END
	runs 1 '0 flaky.1 passed, 1 failed, 0 skipped' ./a && says '^not ok ./a: exit status 3$'
}
# A case that needs an earlier one, and two that run side by side.
needs_first() {
	suite a <<'END'
make() { echo made >"$tmp/made"; }
uses() { grep -q made "$tmp/made" && ! first uses; }
first_beside() { ! first beside; }
case_first make make && case_run uses uses
case_beside one first_beside
case_beside two true
suite_end
END
	runs 0 '2 flaky.4 passed, 0 failed, 0 skipped' ./a
}
too_many() {
	suite a <<'END'
once() { ! first "$1"; }
for i in 1 2 3 4; do case_run "c$i" once "c$i"; done
suite_end
END
	runs 1 '4 flaky.4 passed, 1 failed, 0 skipped' ./a && says '^not ok: 4 are flaky' || return
	suite a <<'END'
for i in {1..13}; do case_run "c$i" fail 'broken'; done
suite_end
END
	runs 1 '0 flaky.0 passed, 13 failed, 0 skipped' ./a && says 'too many to run them once more' &&
		says_not 'failed again'
}
skipped_in_ci() {
	suite a <<'END'
case_run one true
case_run two skip 'no tmux'
suite_end
END
	CI=true runs 1 '0 flaky.1 passed, 1 failed, 1 skipped' ./a
}
timed() {
	suite a <<'END'
case_run one true
case_timed clock fail 'slow'
suite_end
END
	runs 0 '0 flaky.1 passed, 0 failed, 0 skipped' ./a &&
		TIMING=1 runs 1 '0 flaky.0 passed, 1 failed, 0 skipped' ./a
}

for c in well passes_alone fails_twice alone hangs dies needs_first too_many skipped_in_ci timed; do
	case_run "$c" "$c"
done
suite_end
