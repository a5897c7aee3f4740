/* SPDX-License-Identifier: MIT */
/* --help and the shells' completion scripts, made from the table of options. */
#include <stdlib.h>
#include <string.h>

#include "keymap/setting.h"
#include "model/base/util.h"
#include "tui/options.h"
#include "tui/options_table.h"
#include "tui/tui.h"

#define TEXT_COLUMN 25			/* column of --help in which the descriptions start */
#define TEXT_WIDTH 80

const struct option_row option_rows[] = {
#define ROW(code, letter, word, value, words, place, about) \
	{code, letter, word, value, words, OPTION_##place, about},
	OPTION_LIST(ROW)
#undef ROW
};
const size_t option_n_rows = sizeof(option_rows) / sizeof(*option_rows);

const char option_probes[] = "opencl cuda nvtx itt tensorflow pytorch jax onednn blas omp";

/* Adds each word, with a text before and one behind it. */
static void put_words(struct strbuf *out, const char *before, const char *words, const char *behind)
{
	while (*words) {
		size_t length = strcspn(words, " |");

		strbuf_addf(out, "%s%s%.*s%s", out->length ? " " : "", before, (int)length, words,
			    behind);
		words += length + (words[length] != '\0');
	}
}

const char *option_words(const struct option_row *row, char words[512])
{
	char format[FOREIGN_WORD_MAX];
	struct strbuf text;

	strbuf_init(&text);
	if (!strcmp(row->words, "themes"))
		put_words(&text, "", setting_table[SETTING_THEME].choices, "");
	else if (!strcmp(row->words, "formats"))
		for (size_t i = 0; foreign_word(i, format); i++)
			strbuf_addf(&text, "%s%s:", i ? " " : "", format);
	else if (!strcmp(row->words, "probes"))
		strbuf_addf(&text, "auto %s +blas +omp", option_probes);
	else
		strbuf_adds(&text, row->words);
	snprintf(words, 512, "%s", text.data ? text.data : "");
	strbuf_release(&text);
	return words;
}

/* ---- --help ---- */

static const char help_head[] =
"tftop [OPTIONS] -- PROGRAM [ARG...]   run PROGRAM and watch it live\n"
"tftop [OPTIONS] DIR|FILE              open a recording of tftop or others\n"
"tftop [OPTIONS] -p PID|NAME, --join   watch a running one (--check, --control)\n"
"\n";

static const char help_tail[] =
"\n"
"Exit status: that of PROGRAM, or 128 + its signal; 0 with -p; 125: tftop failed;\n"
"126: PROGRAM cannot be run; 127: not found. Press ? on the screen for its keys.\n";

/* The description in --help of options that share a line, by the first of them. */
static const char *about_all(const struct option_row *row)
{
	switch (row->code) {
	case OPT_FROM_STEP:
		return "only this part; TIME: 500ms, 20s, 2m; EXPR: 'kernel & dur > 10ms'";
	case OPT_LOSSLESS: return "lose no events; limit what ops cost";
	case OPT_LEVEL: return "off ... full; cuda-profiler, range:NAME";
	case 'p': return "watch a running program, and its children";
	case 'q': return "leave with PROGRAM; stay for what it leaves running";
	case OPT_SCRIPT: return "run prompt commands";
	case OPT_CONFIG: return "read FILE as the configuration, or none";
	case OPT_ASCII: return "what the screen uses";
	case 'v': return "tftop's own log";
	case 'h': return "print this help, or the version";
	default: return "";
	}
}

static void put_option(struct strbuf *line, const struct option_row *row)
{
	const char *value = row->value;

	if (row->place == OPTION_MORE)
		strbuf_adds(line, "  ");
	else
		strbuf_adds(line, row->letter ? "  " : "      ");
	if (row->letter)
		strbuf_addf(line, "-%c%s", row->letter, *row->word ? ", " : "");
	if (*row->word)
		strbuf_addf(line, "--%s", row->word);
	if (*value)
		strbuf_addf(line, "%s%s", *value == '=' ? "" : " ", value);
}

static void put_line(struct strbuf *out, const struct strbuf *line, const char *about)
{
	size_t used = line->length, pad = used + 2 <= TEXT_COLUMN ? TEXT_COLUMN - used : 3;

	if (!*about)
		strbuf_addf(out, "%s\n", line->data);
	else if (used + pad + strlen(about) < TEXT_WIDTH)
		strbuf_addf(out, "%s%*s%s\n", line->data, (int)pad, "", about);
	else
		strbuf_addf(out, "%s\n%*s%s\n", line->data, TEXT_COLUMN - 12, "", about);
}

const char *options_help(void)
{
	static char *text;
	struct strbuf out, line;

	if (text)
		return text;
	strbuf_init(&out);
	strbuf_adds(&out, help_head);
	for (size_t i = 0; i < option_n_rows; ) {
		const struct option_row *first = &option_rows[i];
		bool more = i + 1 < option_n_rows && first[1].place == OPTION_MORE;

		strbuf_init(&line);
		do
			put_option(&line, &option_rows[i++]);
		while (i < option_n_rows && option_rows[i].place == OPTION_MORE);
		if (first->place == OPTION_ROW)
			put_line(&out, &line, more ? about_all(first) : first->about);
		strbuf_release(&line);
	}
	strbuf_adds(&out, help_tail);
	return text = strbuf_detach(&out);
}

/* ---- shells ---- */

static const char made[] =
	"completion for tftop, made by \"make docs\" from the table of its options.\n";

static bool takes(const struct option_row *row, const char *value)
{
	return !strcmp(row->value + (*row->value == '='), value);
}

/* Returns "-b" or "--batch", once for each name of the option; *at is 0 at first. NULL: no more
 * names. */
static const char *next_name(const struct option_row *row, int *at, char name[40])
{
	int which = (*at)++;

	if (row->letter && which == 0)
		snprintf(name, 40, "-%c", row->letter);
	else if (*row->word && which == (row->letter != '\0'))
		snprintf(name, 40, "--%s", row->word);
	else
		return NULL;
	return name;
}

/* Writes the options whose values are of one kind, as patterns of a case. */
static void bash_case(FILE *out, bool (*is)(const struct option_row *row), const char *action)
{
	const char *between = "\t";
	char name[40];

	for (size_t i = 0; i < option_n_rows; i++)
		for (int at = 0; is(&option_rows[i]) && next_name(&option_rows[i], &at, name); ) {
			fprintf(out, "%s%s", between, name);
			between = " | ";
		}
	fprintf(out, ") %s ;;\n", action);
}

static bool is_file(const struct option_row *row)
{
	/* an optional value is part of the same word */
	return takes(row, "FILE") && *row->value != '=';
}

static bool is_folder(const struct option_row *row)
{
	return takes(row, "DIR");
}

static bool is_process(const struct option_row *row)
{
	return takes(row, "PID");
}

static bool is_other(const struct option_row *row)
{
	return *row->value && *row->value != '=' && !*row->words && !is_file(row) &&
	       !is_folder(row) && !is_process(row);
}

/* bash takes a colon for a word of its own: they are put together, and of what is completed stays
 * what comes after the last colon. */
static void bash_colons(FILE *out)
{
	fputs("_tftop()\n{\n"
	      "\tlocal words=() i last\n"
	      "\tfor ((i = 0; i <= COMP_CWORD; i++)); do\n"
	      "\t\tif ((i > 1)) && [[ ${COMP_WORDS[i]} == :* || ${words[-1]} == *: ]]; then\n"
	      "\t\t\twords[-1]+=${COMP_WORDS[i]}\n"
	      "\t\telse\n\t\t\twords+=(\"${COMP_WORDS[i]}\")\n\t\tfi\n\tdone\n"
	      "\tif ((${#words[@]} > COMP_CWORD)); then\n\t\t_tftop_words\n\t\treturn\n\tfi\n"
	      "\tlocal COMP_WORDS=(\"${words[@]}\") COMP_CWORD=$((${#words[@]} - 1))\n"
	      "\t_tftop_words\n"
	      "\tlast=${words[-1]}\n"
	      "\tCOMPREPLY=(\"${COMPREPLY[@]#\"${last%\"${last##*:}\"}\"}\")\n}\n", out);
}

static void write_bash(FILE *out)
{
	char words[512], name[40];

	fprintf(out,
		"# SPDX-License-Identifier: MIT\n# bash %s_tftop_words()\n{\n"
		"\tlocal cur=${COMP_WORDS[COMP_CWORD]} prev=${COMP_WORDS[COMP_CWORD-1]} i\n"
		"\tCOMPREPLY=()\n\tfor ((i = 1; i < COMP_CWORD; i++)); do\n"
		"\t\tif [[ ${COMP_WORDS[i]} == -- ]]; then\n\t\t\tif ((i + 1 == COMP_CWORD)); "
		"then\n"
		"\t\t\t\tCOMPREPLY=($(compgen -c -- \"$cur\"))\n\t\t\telse\n"
		"\t\t\t\tCOMPREPLY=($(compgen -f -- "
		"\"$cur\"))\n\t\t\tfi\n\t\t\treturn\n\t\tfi\n\tdone\n"
		"\tcase $prev in\n",
		made);
	for (size_t i = 0; i < option_n_rows; i++)
		if (*option_words(&option_rows[i], words))
			fprintf(out,
				"\t--%s) COMPREPLY=($(compgen -W '%s' -- \"$cur\"));%s return ;;\n",
				option_rows[i].word, words,
				strchr(words, ':') ? " compopt -o nospace;" : "");
	bash_case(out, is_process,
		  "COMPREPLY=($(compgen -W \"$(ps -o pid= 2>/dev/null)\" -- \"$cur\")); return");
	bash_case(out, is_folder, "COMPREPLY=($(compgen -d -- \"$cur\")); return");
	bash_case(out, is_file, "COMPREPLY=($(compgen -f -- \"$cur\")); return");
	bash_case(out, is_other, "return");
	fprintf(out, "\tesac\n\tcase $cur in\n\t-*) COMPREPLY=($(compgen -W '");
	for (size_t i = 0; i < option_n_rows; i++)
		for (int at = 0; next_name(&option_rows[i], &at, name); )
			fprintf(out, "%s%s ", name, *option_rows[i].value == '=' ? "=" : "");
	fprintf(out, "--' -- \"$cur\")) ;;\n\t*) COMPREPLY=($(compgen -f -- \"$cur\")) ;;\n\tesac\n"
		     "\t[[ ${COMPREPLY[0]-} == *= ]] && compopt -o nospace\n}\n");
	bash_colons(out);
	fputs("complete -F _tftop tftop\n", out);
}

/* Quotes the text for use within single quotes of a shell. */
static void put_quoted(FILE *out, const char *text)
{
	for (; *text; text++)
		fputs(*text == '\'' ? "'\\''" : (char[]){*text, '\0'}, out);
}

static void zsh_action(FILE *out, const struct option_row *row)
{
	char words[512];

	if (!*row->value)
		return;
	fprintf(out, ":%s:", takes(row, "PID") ? "process" : *row->words ? row->word : "value");
	if (strchr(option_words(row, words), ':'))
		fprintf(out, "compadd -S \"\" -a of_%s", row->word);
	else if (*words)
		fprintf(out, "(%s)", words);
	else if (takes(row, "PID"))
		fputs("_pids", out);
	else if (takes(row, "FILE") || takes(row, "DIR"))
		fputs(takes(row, "DIR") ? "_files -/" : "_files", out);
}

static void write_zsh(FILE *out)
{
	char words[512];

	fprintf(out, "#compdef tftop\n# SPDX-License-Identifier: MIT\n# zsh %s", made);
	for (size_t i = 0; i < option_n_rows; i++)
		if (strchr(option_words(&option_rows[i], words), ':'))
			fprintf(out, "local -a of_%s=(%s)\n", option_rows[i].word, words);
	fprintf(out, "local -i dashes=${words[(I)--]}\nif ((dashes && dashes < CURRENT)); then\n"
		     "\tshift $dashes words\n\t((CURRENT -= "
		     "dashes))\n\t_normal\n\treturn\nfi\n_arguments -S \\\n");
	for (size_t i = 0; i < option_n_rows; i++) {
		const struct option_row *row = &option_rows[i];

		/* several outputs and processes can be given */
		fprintf(out, "\t%s", row->code == OPT_EXPORT || row->code == 'p' ? "'*'" : "");
		if (row->letter && *row->word)
			fprintf(out, "'(-%c --%s)'{-%c,--%s}'[", row->letter, row->word,
				row->letter, row->word);
		else if (row->letter)
			fprintf(out, "'-%c[", row->letter);
		else
			fprintf(out, "'--%s%s[", row->word, *row->value == '=' ? "=" : "");
		put_quoted(out, row->about);
		fputc(']', out);
		zsh_action(out, row);
		fputs("' \\\n", out);
	}
	fputs("\t'*:recording or file:_files'\n", out);
}

static void write_fish(FILE *out)
{
	char words[512];

	fprintf(out, "# SPDX-License-Identifier: MIT\n# fish %s"
		"set -l own 'not contains -- -- (commandline -opc)'\n"
		"complete -c tftop -n \"not $own\" -a '(__fish_complete_subcommand)'\n", made);
	for (size_t i = 0; i < option_n_rows; i++) {
		const struct option_row *row = &option_rows[i];

		fputs("complete -c tftop -n $own", out);
		if (row->letter)
			fprintf(out, " -s %c", row->letter);
		if (*row->word)
			fprintf(out, " -l %s", row->word);
		if (is_file(row) || is_folder(row))
			fputs(" -r", out);
		else if (*row->value && *row->value != '=')
			fputs(" -x", out);
		if (takes(row, "PID"))
			fputs(" -a '(__fish_complete_pids)'", out);
		else if (*option_words(row, words))
			fprintf(out, " -a '%s'", words);
		fputs(" -d '", out);
		for (const char *c = row->about; *c; c++)
			fputs(*c == '\'' ? "\\'" : (char[]){*c, '\0'}, out);
		fputs("'\n", out);
	}
}

/* Writes the completion for a shell (bash, zsh or fish); false: there is none for it. */
static bool option_write_shell(const char *shell, FILE *out)
{
	if (!strcmp(shell, "bash"))
		write_bash(out);
	else if (!strcmp(shell, "zsh"))
		write_zsh(out);
	else if (!strcmp(shell, "fish"))
		write_fish(out);
	else
		return false;
	return true;
}

bool option_print_table(const char *what)
{
	if (!strcmp(what, "keys"))
		tui_print_keys();
	else if (!strcmp(what, "commands"))
		tui_print_commands();
	else if (!strcmp(what, "settings"))
		tui_print_settings();
	else if (!strcmp(what, "filters"))
		tui_print_filters();
	else
		return option_write_shell(what, stdout);
	return true;
}
