/* SPDX-License-Identifier: MIT */
/*
 * The commands of tftop: one row each. Keys, prompt, scripts, help pane,
 * --help, man page and completion all derive from COMMAND_LIST; tui/commands/commands.c
 * takes the function from the same row.
 *
 * X(ID, name, alias, GROUP, arguments, least, most, function, help)
 *   alias      a second name, "" none
 *   arguments  as shown: CAPITALS are values, […] may be left out, a|b choose, EXPR… takes
 *              the rest of the line (keymap/arguments.h)
 *   least, most  how many arguments; -1: any number
 *   function   cmd_…() of tui/; pane: given to the panes; script: to the script
 *
 * Threads: constants only.
 */
#ifndef KEYMAP_COMMAND_H
#define KEYMAP_COMMAND_H

#include <stdbool.h>
#include <stddef.h>

enum command_group {
	GROUP_TIME = 0, GROUP_CURSOR, GROUP_PANES, GROUP_PROGRAM, GROUP_SCREEN,
	GROUP_CONFIG, GROUP_PROMPT, GROUP_SCRIPT,
	GROUP_COUNT
};

#define COMMAND_LIST(X) \
	X(TOGGLE_FOLLOW, "toggle-follow", "", TIME, "", 0, 0, toggle_follow, "freeze, or follow the live edge again") \
	X(FOLLOW, "follow", "", TIME, "", 0, 0, follow, "follow the live edge") \
	X(FREEZE, "freeze", "", TIME, "", 0, 0, freeze, "stand still; collecting goes on") \
	X(ZOOM_IN, "zoom-in", "", TIME, "[TIMES]", 0, 1, zoom_in, "less time per column, around the cursor") \
	X(ZOOM_OUT, "zoom-out", "", TIME, "[TIMES]", 0, 1, zoom_out, "more time per column") \
	X(PAN_LEFT, "pan-left", "", TIME, "[PERCENT|COLUMNSc]", 0, 1, pan_left, "earlier by 10 (PERCENT) % of the window, or by columns") \
	X(PAN_RIGHT, "pan-right", "", TIME, "[PERCENT|COLUMNSc]", 0, 1, pan_right, "later by 10 (PERCENT) % of the window, or by columns") \
	X(FIT, "fit", "", TIME, "[all|row|RANGE [WHICH]]", 0, 2, fit, "around the selected event, else everything; row: from the first event of the row under the cursor to its last; a range as range takes it: step here, 1.5s 1.6s, measured") \
	X(GOTO, "goto", "go", TIME, "start|live|TIME|mark|step|gap [WHICH]", 1, 2, goto, "to the start, the live edge, a time since start; mark NAME; step N, next, previous, slowest or median; gap next, previous or longest: where the row has nothing for two columns and more") \
	X(MARK, "mark", "", TIME, "[MARK [NOTE]]", 0, -1, mark, "gives the cursor's moment, or the selected event's start, a name; kept with the recording; without one the next letter") \
	X(UNMARK, "unmark", "", TIME, "MARK|all", 1, 1, unmark, "takes a mark away") \
	X(MEASURE, "measure", "", TIME, "[off|RANGE [WHICH]]", 0, 2, measure, "from the cursor on, moving it extends, again or Enter ends; or a range; how long, how often a second, what the row did in it") \
	X(COMPARE, "compare", "", TIME, "[step|STEP|slowest|median|previous|off [WHICH]]", 0, 2, compare, "lays another step beneath the one at the cursor: each row has a second, grey line with the same row in that step, both from their starts on; alone: the median step, or off") \
	X(SELECT, "select", "", TIME, "ROW[:LANE:ID]|TIME TIME", 1, 2, select, "show on the timeline: a row or an event as pages name them, from a time to another") \
	X(ROW_DOWN, "row-down", "", CURSOR, "[ROWS]", 0, 1, pane, "next row") \
	X(ROW_UP, "row-up", "", CURSOR, "[ROWS]", 0, 1, pane, "previous row") \
	X(PAGE_DOWN, "page-down", "", CURSOR, "", 0, 0, pane, "one page down") \
	X(PAGE_UP, "page-up", "", CURSOR, "", 0, 0, pane, "one page up") \
	X(FIRST_ROW, "first-row", "", CURSOR, "", 0, 0, pane, "first row") \
	X(LAST_ROW, "last-row", "", CURSOR, "", 0, 0, pane, "last row") \
	X(NEXT_EVENT, "next-event", "", CURSOR, "", 0, 0, pane, "next event of the row") \
	X(PREV_EVENT, "prev-event", "", CURSOR, "", 0, 0, pane, "previous event of the row") \
	X(LONGEST_EVENT, "longest-event", "", CURSOR, "", 0, 0, pane, "longest event of the row in the window") \
	X(FIND, "find", "", CURSOR, "[REGEX | -w EXPR…]", 0, -1, find, "on the timeline the next event whose name or op matches, in any row; elsewhere the next line; case matters with a capital; -w: that a filter wants, as kernel & dur > 1ms") \
	X(NEXT_MATCH, "next-match", "", CURSOR, "", 0, 0, find, "the next one that find would find") \
	X(PREV_MATCH, "prev-match", "", CURSOR, "", 0, 0, find, "the one before it") \
	X(TO_OP, "to-op", "", CURSOR, "", 0, 0, pane, "from device work to the op that launched it") \
	X(TO_KERNEL, "to-kernel", "", CURSOR, "", 0, 0, pane, "from an op to the first work it launched") \
	X(TO_PRODUCER, "to-producer", "", CURSOR, "", 0, 0, pane, "to the last run of an op that this one, or its op, takes from") \
	X(TO_CONSUMER, "to-consumer", "", CURSOR, "", 0, 0, pane, "to the first run of an op that takes from it") \
	X(OPEN, "open", "show", CURSOR, "", 0, 0, pane, "the page of the event under the cursor; in tables: show it on the timeline; in pages: the link") \
	X(ABOUT, "about", "", CURSOR, "", 0, 0, pane, "the page about what is under the cursor: an event, a row, an op, a kernel, a step, a finding") \
	X(FOLD, "fold", "", CURSOR, "[all]", 0, 1, pane, "fold device, process or queue under the cursor") \
	X(UNFOLD, "unfold", "", CURSOR, "[all]", 0, 1, pane, "unfold it") \
	X(TOGGLE_FOLD, "toggle-fold", "", CURSOR, "", 0, 0, pane, "fold or unfold it") \
	X(TREE, "tree", "", CURSOR, "[off|all|step|thread|scope]", 0, 1, pane, "ops as a tree of calls: of the run, of the step or thread at the cursor; or by scope: name scopes, functions that called them; by device time or by total, that of all in a branch (sort)") \
	X(ROWS, "rows", "", CURSOR, "[hide|show|only|find|pin|up|down|order|reset] [/REGEX/|ORDER]", 0, -1, pane, "rows of the timeline: hide (that under the cursor, or by name), show, only these; find one; pin it on top; move it; order activity|name|id|start; reset; alone: what is chosen") \
	X(DESELECT, "deselect", "", CURSOR, "", 0, 0, pane, "no event selected") \
	X(SORT, "sort", "", CURSOR, "COLUMN", 1, 1, pane, "sort the table by a column") \
	X(COLUMNS, "columns", "", CURSOR, "[PANE] [+COLUMN|-COLUMN|COLUMN,COLUMN|reset]", 0, -1, columns, "which columns a table has: more, fewer, just these; alone: all there are and what they mean") \
	X(COLUMNS_LEFT, "columns-left", "", CURSOR, "", 0, 0, pane, "the table's columns to the left, where not all have room") \
	X(COLUMNS_RIGHT, "columns-right", "", CURSOR, "", 0, 0, pane, "those to the right; the first stays") \
	X(NEXT_SORT, "next-sort", "", CURSOR, "", 0, 0, pane, "sort the table by its next column") \
	X(PREV_SORT, "prev-sort", "", CURSOR, "", 0, 0, pane, "sort the table by the column before") \
	X(REVERSE, "reverse", "", CURSOR, "", 0, 0, pane, "turn the table's order round") \
	X(NEXT_LINK, "next-link", "", CURSOR, "", 0, 0, pane, "next link of a page") \
	X(PREV_LINK, "prev-link", "", CURSOR, "", 0, 0, pane, "previous link of a page") \
	X(SCROLL_RIGHT, "scroll-right", "", CURSOR, "[COLUMNS]", 0, 1, pane, "to the ends of a page's long lines") \
	X(SCROLL_LEFT, "scroll-left", "", CURSOR, "[COLUMNS]", 0, 1, pane, "back to their beginnings") \
	X(WHERE, "where", "", CURSOR, "[EXPR…]", 0, -1, pane, "only the table's rows that a filter wants: where dur > 1ms & name ~ /conv/; without: all (help filter)") \
	X(PICK, "pick", "", CURSOR, "", 0, 0, pane, "mark the row, or unmark it; below the table stands what the marked ones add up to") \
	X(PICK_NONE, "pick-none", "", CURSOR, "", 0, 0, pane, "no row is marked") \
	X(PIN, "pin", "", CURSOR, "", 0, 0, pin, "remember the tables' numbers: columns say what came since then") \
	X(UNPIN, "unpin", "", CURSOR, "", 0, 0, unpin, "forget them again") \
	X(WRITE, "write", "", CURSOR, "FILE", 1, 1, write, "the table's rows, or the marked ones, with all columns to a file: values in ns and bytes, between commas if it ends in .csv, else tabs") \
	X(PANE, "pane", "", PANES, "NUMBER|PANE", 1, 1, show_pane, "show a lower pane and give it the keys") \
	X(NEXT_PANE, "next-pane", "", PANES, "", 0, 0, next_pane, "next lower pane") \
	X(PREV_PANE, "prev-pane", "", PANES, "", 0, 0, prev_pane, "previous lower pane") \
	X(FOCUS, "focus", "", PANES, "[timeline|lower]", 0, 1, focus, "keys to the timeline or to the lower pane") \
	X(MESSAGES, "messages", "", PANES, "", 0, 0, messages, "pane 8, the messages") \
	X(LIST_PROFILE, "list-profile", "lp", PANES, "[-n OP] [-t TYPE] [-d DEVICE] [-f SOURCE] [-e AVG] [-o TOTAL] [-w EXPR] [-s COLUMN] [-r] [-l LINES]", 0, -1, page, "ops with calls, own and device time, kernels, source line; -n -t -d -f: regular expressions; -e -o: intervals as >100us or [1ms,5ms); -s: by which column, -r turned round") \
	X(LIST_KERNELS, "list-kernels", "lk", PANES, "[-n KERNEL] [-t CLASS] [-d DEVICE] [-q QUEUE] [-p OP] [-e AVG] [-o TOTAL] [-w EXPR] [-s COLUMN] [-r] [-l LINES]", 0, -1, page, "kernels with runs, times, occupancy, class and op, likewise") \
	X(LIST_EXECUTIONS, "list-executions", "le", PANES, "[NAME] [-k KIND] [-n NAME] [-p OP] [-t TYPE] [-d DEVICE] [-q QUEUE] [-T THREAD] [-S STEP] [-e DURATION] [-o START] [-b BYTES] [-x] [-w EXPR] [-s COLUMN] [-r] [-l LINES]", 0, -1, page, "single executions of ops, kernels, copies, ranges, the longest first, or by start or bytes (-s); -k: kernel, copy, fill, op, range, compile, graph; -o: since the start of the run; -x: failed ones; -w: as where, step also of device work") \
	X(LIST_COPIES, "list-copies", "lc", PANES, "[-t DIRECTION] [-d DEVICE] [-q QUEUE] [-p OP] [-e AVG] [-b BYTES] [-a pageable|pinned|mixed] [-w EXPR] [-s COLUMN] [-r] [-l LINES]", 0, -1, page, "copies by direction, device and queue: bytes, time, rates, these beside the best seen, memory, op; -b: bytes of a copy") \
	X(PRINT_COPIES, "print-copies", "pc", PANES, "[DIRECTION|QUEUE|OP] [-d DEVICE] [-q QUEUE] [-p OP] [-w EXPR] [-s COLUMN] [-r] [-l LINES]", 0, -1, page, "copies in a direction, of a queue, of an op: by op, the longest of each, pageable ones") \
	X(LIST_TENSORS, "list-tensors", "lt", PANES, "[-n NAME] [-t SHAPE] [-p OP] [-k message|edge|copy|input] [-b BYTES] [-w EXPR] [-s COLUMN] [-r] [-l LINES]", 0, -1, page, "tensors that moved, as far as was told: bytes, shape, producer, consumer, from and to; -b: bytes of one") \
	X(PRINT_TENSOR, "print-tensor", "pt", PANES, "TENSOR", 1, 1, page, "one of them in full, by a part of its name; values are not collected") \
	X(NODE_INFO, "node-info", "ni", PANES, "OP [-a] [-d] [-t]", 1, 4, page, "a node (GRAPH:NAME of several): type, device, inputs, outputs; -a attributes, -d waits in full, -t where it was made; or what was compiled; > FILE writes any such page") \
	X(LIST_INPUTS, "list-inputs", "li", PANES, "OP [-r] [-d DEPTH] [-c] [-t]", 1, 6, page, "what it takes, as a tree; -r all the way, -c control edges, -t types") \
	X(LIST_OUTPUTS, "list-outputs", "lo", PANES, "OP [-r] [-d DEPTH] [-c] [-t]", 1, 6, page, "who takes from it, likewise") \
	X(LIST_SOURCE, "list-source", "ls", PANES, "[-p SOURCE] [-n OP] [-e TIME] [-u] [-s COLUMN] [-r] [-l LINES]", 0, -1, page, "source files with what ran of them, calls and time, yours first; -p, -n: regular expressions; -u: without libraries") \
	X(PRINT_SOURCE, "print-source", "ps", PANES, "FILE[:LINE] [-b LINE] [-c time|self|device|backward] [-n OP]", 1, -1, page, "a source file with the cost of its lines, at the one that costs most; :LINE or -b: from that line, -c: what the bars are of, -n: only these ops below their lines") \
	X(LIST_STAGES, "list-stages", "stages", PANES, "", 0, 0, page, "input pipelines as trees: time, work, buffer of each stage, and what it holds of the wait") \
	X(ALLOCATOR, "allocator", "", PANES, "[ALLOCATOR]", 0, 1, page, "allocators: peak and who held it, regions, chunks by size, fragmentation; or those with that in the name") \
	X(COUNTERS, "counters", "", PANES, "[COUNTER]", 0, 1, page, "counters: least, mean, highest, last value; or over time, of those with that in the name") \
	X(LIST_POOLS, "list-pools", "pools", PANES, "", 0, 0, page, "thread pools: threads, busy share, closures, how long ops waited for a thread") \
	X(PRINT_KERNEL, "print-kernel", "pk", PANES, "KERNEL", 1, 1, page, "a kernel, by a part of its name: runs, class, ops, how it was launched, occupancy and its limit") \
	X(QUEUES, "queues", "", PANES, "", 0, 0, page, "queues: what went to each, from the end of its call to its start (delay), how many waited (depth)") \
	X(LIST_WAITS, "list-waits", "waits", PANES, "", 0, 0, page, "who waits for devices: by call, op and line; how long, and how long these then idle") \
	X(LIST_GRAPHS, "list-graphs", "graphs", PANES, "[GRAPH]", 0, 1, page, "graphs that are launched as one: time of a launch, gaps between its nodes; or the nodes of those with that in the name, by the op they were captured in") \
	X(FLOWS, "flows", "", PANES, "", 0, 0, page, "messages between processes: bytes, latency, coding, waits") \
	X(FILTERS, "filters", "", PANES, "", 0, 0, page, "filters that have a name, and the language they are written in") \
	X(RANGE, "range", "", PANES, "[RANGE [WHICH]] [-a]", 0, 3, page, "what ran in a range (of the window; T0 T1, MARK MARK, T0..T1, step N, selection, measured, run): devices and why they idled, kernels, ops, copies, threads, memory; -a: whole tables") \
	X(DIFF, "diff", "", PANES, "[A [B]] [-a]", 0, 5, page, "what differs from A to B: steps (step 12, 12, slowest, median, here), ranges (T0..T1, MARK..MARK); one alone: from the median step to it; DIR, a recording, or FILE, a JSON report: from that run to this one") \
	X(GAPS, "gaps", "", PANES, "[RANGE [WHICH]] [-r ROW] [-n GAPS]", 0, 7, page, "where a row (that under the cursor) had nothing to do, in the window or a range: the longest first, why, between what") \
	X(MARKS, "marks", "", PANES, "", 0, 0, page, "the marks, how far they are apart") \
	X(RUN_INFO, "run-info", "ri", PANES, "", 0, 0, page, "what is watched: processes, probes, settings, graphs, losses") \
	X(EVENT, "event", "", PANES, "ROW:LANE:ID", 1, 1, page, "one execution, as pages and lists name it: who launched it, what it waited for, among all of its name, before and after it") \
	X(NAME, "name", "", PANES, "NAME|DIRECTION", 1, 1, page, "all events of one name: how long, by step, where, launched by what, the slowest") \
	X(QUEUE, "queue", "", PANES, "NUMBER|QUEUE", 1, 1, page, "a queue (stream): what goes to it, calls, delays, depth, its kernels") \
	X(DEVICE, "device", "", PANES, "NUMBER|DEVICE", 1, 1, page, "a device (gpu0): what it is, busy and idle time by cause, queues, memory, counters, kernels") \
	X(THREAD, "thread", "", PANES, "TID [PID]", 1, 2, page, "a thread: how busy it is, its outermost ops") \
	X(PROCESS, "process", "", PANES, "PID", 1, 1, page, "a process: probes, threads, queues, pools, how it is set up") \
	X(STEP, "step", "", PANES, "STEP|slowest|fastest|median|first|last|here|next|previous", 1, 1, page, "a step: what its time went to, beside the mean; who was idle in it") \
	X(FINDING, "finding", "", PANES, "FINDING", 1, 1, page, "a finding in full, with ways to what shows it") \
	X(FULL, "full", "", PANES, "", 0, 0, full, "the lower pane over the whole screen, and back") \
	X(BACK, "back", "", PANES, "", 0, 0, back, "the page before") \
	X(FORWARD, "forward", "", PANES, "", 0, 0, forward, "the page after it") \
	X(HELP, "help", "h", PANES, "[tasks|column|COMMAND|OPTION|KEYS [COLUMN]]", 0, 2, help, "keys and commands; tasks: what one may want to know, each with its command; what a command, an option, a key, a column of a table is for") \
	X(RUN, "run", "r", PROGRAM, "[-t STEPS | -f EXPR…]", 0, -1, run, "follow; -t: for so many steps, -f: until an event that begins from now on matches a filter (help filter), then freeze") \
	X(LEVEL, "level", "", PROGRAM, "off|min|default|full", 0, 1, level, "how much is collected") \
	X(PROBE, "probe", "", PROGRAM, "[PROBE on|off]", 0, 2, page, "what each process is watched by, and what that does not see") \
	X(SAVE, "save", "", PROGRAM, "DIR [last TIME]", 1, 3, save, "what is on the timeline as a recording, or the last of it") \
	X(EXPORT, "export", "", PROGRAM, "FORMAT FILE [last TIME]", 2, 4, export, "what is on the timeline for other programs: chrome, perfetto, csv:TABLE, dot") \
	X(QUIT, "quit", "q", PROGRAM, "[leave|stop]", 0, 1, quit, "leave tftop; asks while the program runs") \
	X(ANSWER, "answer", "", PROGRAM, "leave|stop|back", 1, 1, answer, "answers the question of quit") \
	X(INTERRUPT, "interrupt", "", PROGRAM, "", 0, 0, interrupt, "SIGINT to the program") \
	X(REDRAW, "redraw", "", SCREEN, "", 0, 0, redraw, "draw the whole screen anew") \
	X(SUSPEND, "suspend", "", SCREEN, "", 0, 0, suspend, "stop tftop, back to the shell") \
	X(SAVE_SCREEN, "save-screen", "", SCREEN, "[-a] FILE", 1, 2, save_screen, "the screen as text; -a: with roles") \
	X(OPTIONS, "options", "", CONFIG, "", 0, 0, page, "all options with value, default, range, what for (set alone)") \
	X(BINDINGS, "bindings", "", CONFIG, "", 0, 0, page, "all keys by table (bind alone)") \
	X(COLORS, "colors", "theme", CONFIG, "[THEME]", 0, 1, colors, "themes, roles and how they look (color alone); or to a theme: dark, light, 16, contrast, mono") \
	X(SET, "set", "", CONFIG, "[OPTION [= VALUE]]", 0, 3, set, "an option; without a value: what it is; alone: all") \
	X(TOGGLE, "toggle", "", CONFIG, "OPTION", 1, 1, toggle, "an option with few values: the next one of them") \
	X(BIND, "bind", "", CONFIG, "[TABLE KEYS COMMAND]", 0, -1, bind, "a key gives a command; none: nothing; alone: all bindings") \
	X(UNBIND, "unbind", "", CONFIG, "TABLE KEYS", 2, 2, config, "takes a binding away") \
	X(COLOR, "color", "", CONFIG, "[ROLE FG] [BG] [ATTR]", 0, -1, color, "how a role looks; alone: how all do") \
	X(FILTER, "filter", "", CONFIG, "[FILTER [= EXPR…]]", 0, -1, filter, "a name for an expression like kernel & dur > 1ms; NAME alone: what it says; nothing: all of them") \
	X(UNFILTER, "unfilter", "", CONFIG, "FILTER", 1, 1, config, "takes a filter's name away") \
	X(SOURCE, "source", "", CONFIG, "FILE", 1, 1, config, "reads configuration from a file; vi, emacs: ready key tables") \
	X(ASK_KEY, "ask-key", "", PROMPT, "COMMAND", 1, -1, ask_key, "the next key, a letter or digit, is the command's last word") \
	X(PROMPT, "prompt", "", PROMPT, "[TEXT]", 0, -1, prompt, "opens the prompt, TEXT and a blank in it") \
	X(ACCEPT, "accept", "", PROMPT, "", 0, 0, accept, "runs what was typed") \
	X(CANCEL, "cancel", "", PROMPT, "", 0, 0, cancel, "closes prompt, help or question") \
	X(CHAR_LEFT, "char-left", "", PROMPT, "", 0, 0, edit, "one character left") \
	X(CHAR_RIGHT, "char-right", "", PROMPT, "", 0, 0, edit, "one character right") \
	X(WORD_LEFT, "word-left", "", PROMPT, "", 0, 0, edit, "one word left") \
	X(WORD_RIGHT, "word-right", "", PROMPT, "", 0, 0, edit, "one word right") \
	X(LINE_START, "line-start", "", PROMPT, "", 0, 0, edit, "to the start of the line") \
	X(LINE_END, "line-end", "", PROMPT, "", 0, 0, edit, "to its end") \
	X(RUBOUT, "rubout", "", PROMPT, "", 0, 0, edit, "deletes the character before") \
	X(DELETE_CHAR, "delete-char", "", PROMPT, "", 0, 0, edit, "deletes the character under the cursor") \
	X(RUBOUT_WORD, "rubout-word", "", PROMPT, "", 0, 0, edit, "deletes the word before") \
	X(COMPLETE, "complete", "", PROMPT, "", 0, 0, complete, "completes the word, then the next of what it may be") \
	X(COMPLETE_BACK, "complete-back", "", PROMPT, "", 0, 0, complete, "the one before it") \
	X(HISTORY_PREV, "history-prev", "", PROMPT, "", 0, 0, recall, "the line before that begins with what was typed") \
	X(HISTORY_NEXT, "history-next", "", PROMPT, "", 0, 0, recall, "the one after it") \
	X(HISTORY_SEARCH, "history-search", "", PROMPT, "", 0, 0, recall, "the line before that contains what was typed") \
	X(KILL_LINE, "kill-line", "", PROMPT, "", 0, 0, edit, "deletes to the end of the line") \
	X(KILL_START, "kill-start", "", PROMPT, "", 0, 0, edit, "deletes to the start of the line") \
	X(WAIT, "wait", "", SCRIPT, "TIME", 1, 1, script, "lets time pass") \
	X(WAIT_EXIT, "wait-exit", "", SCRIPT, "[TIMEOUT]", 0, 1, script, "until the program has ended") \
	X(WAIT_SETTLED, "wait-settled", "", SCRIPT, "[TIMEOUT]", 0, 1, script, "until all that happened before is final") \
	X(WAIT_STEP, "wait-step", "", SCRIPT, "N [TIMEOUT]", 1, 2, script, "until step N is finished") \
	X(WAIT_KERNELS, "wait-kernels", "", SCRIPT, "N [TIMEOUT]", 1, 2, script, "until N kernels have run") \
	X(WAIT_FOR, "wait-for", "", SCRIPT, "REGEX [TIMEOUT]", 1, -1, script, "until the screen matches") \
	X(KEY, "key", "", SCRIPT, "KEYS", 1, -1, script, "as if typed") \
	X(MOUSE, "mouse", "", SCRIPT, "WHAT X Y [X2 Y2] [WITH…]", 3, -1, script, "as if it happened: click, double, drag (to X2 Y2), press, move, release, wheel-up, -down, -left, -right, at a column and line from 0; with shift, alt, ctrl, middle, right") \
	X(RESIZE, "resize", "", SCRIPT, "WxH", 1, 1, script, "another size, without a terminal") \
	X(FOLLOW_LINKS, "follow-links", "", SCRIPT, "DEPTH [MOST]", 1, 2, script, "fails when a link of the page shown, or of those it leads to, DEPTH deep and MOST of them, leads to an error") \
	X(ASSERT_SCREEN, "assert-screen", "", SCRIPT, "REGEX", 1, -1, script, "fails when the screen does not match")

enum command_id {
#define COMMAND_ID(id, ...) COMMAND_ID_##id,
	COMMAND_LIST(COMMAND_ID)
#undef COMMAND_ID
	COMMAND_ID_COUNT
};

struct command_info {
	const char *name, *alias;	/* alias "" none */
	enum command_group group;
	const char *arguments;
	int least, most;		/* -1: any number */
	const char *help;
};

extern const struct command_info command_table[COMMAND_ID_COUNT];

const char *command_group_title(enum command_group group);

/* By name, alias, or unambiguous beginning of a name. -1: a sentence in error
 * that names what is near. */
int command_find(const char *name, char *error, size_t error_size);
/* The name is known and the number of arguments right; else as above. */
int command_check(int argc, const char *const *argv, char *error, size_t error_size);

#endif
