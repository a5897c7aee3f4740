/* SPDX-License-Identifier: MIT */
/*
 * The inside of the timeline pane: shared by pane_timeline.c (what is taken from the model),
 * timeline_lines.c (a line of it), timeline_draw.c, and the files for its commands:
 * timeline_commands.c (events, folds), timeline_choose.c (`rows`).
 *
 * Always true: cells and labels are made in update(), under the model's lock, and only for the
 * visible lines; draw() copies them. Once the size is known, nothing is allocated per cell or per
 * frame. Thread: the loop's.
 */
#ifndef TUI_PANE_TIMELINE_H
#define TUI_PANE_TIMELINE_H

#include "model/query/links.h"
#include "tui/timeline/column_cache.h"
#include "tui/timeline/find.h"
#include "tui/timeline/minimap.h"
#include "tui/draw/pane.h"
#include "tui/table/steps.h"
#include "tui/timeline/row_choice.h"
#include "tui/draw/ruler.h"
#include "tui/draw/state_cells.h"
#include "tui/draw/strip.h"
#include "tui/draw/timeline_cells.h"
#include "tui/timeline/timeline_row.h"
#include "tui/timeline/tint.h"

#define CLOCK_MARKS 64
#define LINKS_MOST 48

enum drag { DRAG_NONE, DRAG_TIME, DRAG_MAP };

struct timeline_seen {			/* a line on the screen */
	struct timeline_line line;
	char value[32];			/* right part of the label; "": none */
	/* for a counter with several lines: extremes in the window */
	char most[32], least[32];
	int y, height;			/* lines of the screen; y counts from the first row */
	bool compared;			/* the last of its lines shows another step */
	bool pinned;
};

struct timeline_pane {
	struct pane pane;
	struct fold_set folds;
	struct row_choice choice;
	struct line_list list;
	struct model_row *rows;		/* owned; in display order */
	size_t n_rows;
	bool moved;			/* the user has chosen the cursor's row */
	struct find find;
	struct model *searched;		/* borrowed; the model that find is searching */
	uint32_t home_row;		/* otherwise the row of the cursor */
	size_t fixed;	/* how many of the first lines are pinned and always visible */
	size_t top;			/* first line that is visible below them */
	size_t page;			/* how many lines of the screen there are for rows */
	int counter_lines;		/* how many of them a counter takes; other rows take one */
	bool heat;
	bool states;			/* shows what threads do beside their ops */
	/* Results of the last update. */
	struct model_status status;
	struct column_cache cache;
	struct minimap minimap;
	struct ruler ruler;
	struct strip sentence;
	struct tints tints;
	bool has_selected;
	struct span selected;
	struct span_link links[LINKS_MOST];	/* links of the selected event */
	size_t n_links;
	struct span_ref links_of;
	uint64_t links_generation;
	int64_t links_ns;		/* the loop's clock at that time */
	enum drag drag;			/* what is being dragged while a button is down */
	int drag_x;
	char command[64];		/* used with OUT_RUN_COMMAND */
	struct step_list steps;
	struct {
		bool shown;
		/* 0, or the only row in which links are drawn, because there is no room for all */
		uint32_t only;
		struct step_row here, there;
		struct column_cache cache;
	} compare;
	struct model_loss *losses;	/* owned */
	size_t n_losses;
	/* owned; pauses of all processes, and when their own profilers had the devices */
	struct model_pause *pauses, *taken;
	size_t n_pauses, n_taken;
	int64_t clock_steps[CLOCK_MARKS];
	size_t n_clock_steps;
	struct timeline_seen *seen;	/* owned; page entries */
	struct cell *cells;		/* owned; page * columns, by lines of the screen */
	uint64_t *owners;		/* owned, columns */
	struct column *blank;		/* owned, columns; all zero */
	struct host_state *doing;	/* owned, columns; what the thread of this row did */
	uint32_t doing_row;		/* 0: it has not been asked in this picture */
	unsigned families;		/* of states that are in the picture, as bits */
	uint8_t *marks;			/* owned; columns entries, 1 where a step starts */
	bool marked;			/* ... in any column */
	size_t seen_cap, cells_cap, columns_cap;
	size_t columns;
	size_t n_seen;
};

/* Where the parts of the pane are at a height; -1: not shown. */
struct timeline_layout {
	int minimap, ruler, rows, n_rows, sentence;
};

struct timeline_layout timeline_layout(int height, bool minimap);

/* ---- pane_timeline.c ---- */
extern const struct pane_ops pane_timeline;
/* Takes the model's rows in display order, and makes their lines. [locked] */
void timeline_take_rows(struct timeline_pane *t, struct model *model, const struct model_row *rows,
			size_t n_rows);

/* ---- timeline_lines.c ---- */
/* Makes the cells and the value of line `index` of the visible ones; w: a column's width.
 * [locked] */
void timeline_line(struct timeline_pane *t, const struct view *view, int64_t w, size_t index);
/* Writes names into bars, for n columns and t->owners. [locked] */
void timeline_label_bars(struct timeline_pane *t, const struct view *view,
			 const struct column *columns, size_t n, const struct cell_style *style,
			 struct cell *cells);
/* How much later than others a row's data settles. */
int64_t timeline_late(enum row_kind kind);

/* ---- timeline_compare.c: `compare` ---- */
/* Chooses which lines get a second one; to be called after the lines were made. */
void timeline_compare_choose(struct timeline_pane *t, const struct view *view);
/* How many would get one if there were room for all. */
int timeline_compare_lines(const struct timeline_pane *t);
/* Makes the cells of the second line; style: that of the first. [locked] */
void timeline_compare_line(struct timeline_pane *t, const struct view *view, int64_t w,
			   const struct timeline_seen *seen, struct cell_style style);
void timeline_compare_label(const struct timeline_pane *t, const struct view *view,
			    const struct timeline_seen *seen, struct area labels);
/* Shows in the ruler what is compared with what. */
void timeline_compare_ruler(const struct timeline_pane *t, const struct view *view,
			    struct area ruler);

/* ---- timeline_draw.c ---- */
void timeline_draw(struct pane *pane, struct view *view, struct area area, bool focused);

/* ---- timeline_commands.c ---- */
unsigned timeline_answer(struct view *view, bool error, const char *format, ...)
	__attribute__((format(printf, 3, 4)));
struct timeline_line *timeline_current(struct timeline_pane *t, const struct view *view);
/* Makes a line of that row visible: undoes what hides or folds it. */
void timeline_show_row(struct timeline_pane *t, struct view *view, uint32_t row, uint32_t lane);

/* Selects the event under the cursor, or nothing. */
void timeline_select(struct view *view);

/* ---- timeline_links.c ---- */
/* Updates what the selected event is linked with, if that may have changed. [locked] */
void timeline_links_update(struct timeline_pane *t, const struct view *view);
/* Marks links in a line's cells; w: a column's width. */
void timeline_links_mark(const struct timeline_pane *t, const struct view *view, int64_t w,
			 const struct timeline_line *line, const struct cell_style *style,
			 struct cell *cells);
/* Appends the links to the sentence, with the keys that go there; to be called after the lines. */
void timeline_links_sentence(struct timeline_pane *t, const struct view *view,
			     const struct model_row *rows, size_t n_rows);

/* ---- timeline_mouse.c ---- */
unsigned timeline_mouse(struct pane *pane, struct view *view, const struct mouse *mouse,
			int width, int height);

/* ---- timeline_choose.c: `rows` ---- */
unsigned timeline_choose(struct timeline_pane *t, struct view *view,
			 const struct command_call *call);

/* Makes the cursor's row visible: unfolds what it is folded into. */
bool timeline_reveal(struct pane *pane, struct view *view, const char *key);
unsigned timeline_command(struct pane *pane, struct view *view, const struct command_call *call);

/* ---- timeline_measure.c ---- */
void timeline_draw_marks(const struct view *view, struct area ruler);
void timeline_draw_map_marks(const struct timeline_pane *t, const struct view *view,
			     struct area map);
void timeline_draw_measure(const struct view *view, struct area ruler);
void timeline_shade_measure(const struct view *view, struct area rows);
/* The sentence about what is measured, and what the row did in that time; row NULL: none.
 * [locked] */
void timeline_measure_sentence(struct timeline_pane *t, const struct view *view,
			       const struct model_row *row);

#endif
