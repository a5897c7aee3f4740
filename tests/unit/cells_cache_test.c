/* SPDX-License-Identifier: MIT */
/* Columns that are kept are the columns that would be given. */
#include <stdlib.h>
#include <string.h>

#include "model/synth/synth.h"
#include "tests/unit/model_events.h"
#include "tests/unit/test.h"
#include "tui/timeline/column_cache.h"

#define MS INT64_C(1000000)
#define START (INT64_C(1000) * 1000 * MS)
#define N 90

static void check_same(const struct column *kept, const struct column *fresh, size_t n)
{
	size_t i;

	for (i = 0; i < n; i++) {
		CHECK(kept[i].busy_ns == fresh[i].busy_ns);
		CHECK(kept[i].count == fresh[i].count && kept[i].edges == fresh[i].edges);
		CHECK(memcmp(kept[i].work_ns, fresh[i].work_ns, sizeof(fresh[i].work_ns)) == 0);
		CHECK(kept[i].longest.id == fresh[i].longest.id);
		CHECK(kept[i].flags == fresh[i].flags);
		CHECK(kept[i].value == fresh[i].value && kept[i].value_max == fresh[i].value_max);
	}
}

static void look(struct column_cache *cache, struct model *model, int64_t t0, int64_t w, bool check)
{
	struct column fresh[N];
	struct model_status status;
	struct model_row *rows;
	size_t n, i;

	model_lock(model);
	model_status(model, &status);
	column_cache_frame(cache, &status);
	n = model_rows(model, &rows);
	for (i = 0; i < n; i++) {
		const struct column *kept;

		cache->late_ns = rows[i].kind == ROW_GRAPH ? ROW_GRAPH_LATE_NS : 0;
		kept = column_cache_get(cache, model, rows[i].id, LANE_ALL, t0, w, N);
		if (!check)
			continue;
		model_columns(model, rows[i].id, LANE_ALL, t0, t0 + w * N, N, fresh);
		check_same(kept, fresh, N);
	}
	free(rows);
	model_unlock(model);
}

/* Following, panning both ways, zooming, the end: every frame is as if nothing
 * was kept. */
static void look_at_a_run(struct model_synth_profile profile)
{
	struct model_options options = {0};
	struct column_cache cache = {0};
	struct model *model = model_new(&options);
	struct model_synth *synth;
	int64_t now = START, t0 = START, w = 2 * MS;
	int i;

	synth = model_synth_new(test_random(), &profile, START);
	for (i = 0; i < 200; i++) {
		now += (int64_t)(test_random() % 40) * MS;
		model_synth_advance(synth, now, feed_model, model);
		switch (test_random() % 12) {
		case 0:
			t0 += w * (int64_t)(test_random() % 60);
			break;
		case 1:
			t0 -= w * (int64_t)(test_random() % 40);
			break;
		case 2:
			w = MS << (test_random() % 4);
			break;
		default:
			if (now > t0 + w * N * 9 / 10)
				t0 += (now - t0 - w * N / 2) / w * w;
			break;
		}
		look(&cache, model, t0, w, true);
	}
	model_synth_end(synth, feed_model, model);
	model_finish(model, false);
	look(&cache, model, t0, w, true);
	look(&cache, model, t0, w, true);
	column_cache_release(&cache);
	model_synth_free(synth);
	model_free(model);
}

TEST(cells_kept_columns_are_the_models)
{
	struct model_synth_profile profile = model_synth_default;

	profile.opens = true;
	look_at_a_run(profile);
}

/* With rows whose boxes come late. */
TEST(cells_kept_columns_of_graphs)
{
	const struct model_synth_profile profile = {
		.gpu = true, .processes = 1, .devices = 2, .queues = 2 * SYNTH_GPU_STREAMS,
	};

	look_at_a_run(profile);
}

/* Events that come after their time was said to be settled are not promised to
 * be seen at once, but soon: within 16 frames, or as many as there are lines. */
TEST(cells_kept_columns_heal)
{
	struct model_synth_profile profile = model_synth_default;
	struct model_options options = {0};
	struct column_cache cache = {0};
	struct model *model = model_new(&options);
	struct model_synth *synth;
	size_t i;

	profile.late_permille = 100;
	synth = model_synth_new(test_random(), &profile, START);
	for (i = 1; i <= 40; i++) {
		model_synth_advance(synth, START + (int64_t)i * 20 * MS, feed_model, model);
		look(&cache, model, START, 10 * MS, false);
	}
	for (i = 0; i < (cache.count > 16 ? cache.count : 16); i++)
		look(&cache, model, START, 10 * MS, false);
	look(&cache, model, START, 10 * MS, true);
	column_cache_release(&cache);
	model_synth_free(synth);
	model_free(model);
}
