/* SPDX-License-Identifier: MIT */
/* The list of findings: what comes, what stays, what goes, in which order. */
#include <stdio.h>
#include <string.h>

#include "model/analyses/finding.h"
#include "tests/unit/test.h"

static void see(struct findings *findings, const char *id, uint32_t subject,
		enum severity severity, int64_t cost_ns)
{
	struct finding finding = {
		.subject = subject, .severity = severity, .cost_ns = cost_ns,
	};

	snprintf(finding.id, sizeof(finding.id), "%s", id);
	snprintf(finding.title, sizeof(finding.title), "%s costs %lld", id, (long long)cost_ns);
	finding_add(findings, &finding);
}

/* One review that sees what the text says: "a 100, b 90". */
static void review(struct findings *findings, const char *text, bool final)
{
	static const char *const ids[] = { "a", "b", "c", "d" };
	char name;
	long cost;
	int used;

	findings_begin(findings);
	while (sscanf(text, " %c %ld%n", &name, &cost, &used) == 2) {
		see(findings, ids[name - 'a'], 0, SEVERITY_WARNING, cost);
		text += used + (text[used] == ',');
	}
	findings_end(findings, final);
}

static const char *shown(const struct findings *findings)
{
	static char text[64];
	size_t i;

	memset(text, 0, sizeof(text));
	for (i = 0; findings_at(findings, i) && i < sizeof(text) - 1; i++)
		text[i] = findings_at(findings, i)->id[0];
	CHECK_INT(findings_shown(findings), i);
	return text;
}

TEST(findings_come_after_two_reviews_and_go_after_three)
{
	struct findings *findings = findings_new();

	review(findings, "a 100", false);
	CHECK_STR(shown(findings), "");
	review(findings, "", false);
	review(findings, "a 100", false);
	CHECK_STR(shown(findings), "");
	review(findings, "a 120", false);
	CHECK_STR(shown(findings), "a");
	CHECK_STR(findings_at(findings, 0)->title, "a costs 120");
	review(findings, "", false);
	review(findings, "", false);
	CHECK_STR(shown(findings), "a");
	review(findings, "a 80", false);
	CHECK_INT(findings_at(findings, 0)->cost_ns, 80);
	review(findings, "", false);
	review(findings, "", false);
	CHECK_STR(shown(findings), "a");
	review(findings, "", false);
	CHECK_STR(shown(findings), "");
	review(findings, "a 80", false);
	CHECK_STR(shown(findings), "");
	findings_free(findings);
}

TEST(findings_keep_their_places_when_costs_are_alike)
{
	struct findings *findings = findings_new();

	review(findings, "a 100, b 95", false);
	review(findings, "b 95, a 100", false);
	CHECK_STR(shown(findings), "ab");
	review(findings, "a 100, b 109", false);
	CHECK_STR(shown(findings), "ab");
	review(findings, "a 100, b 112", false);
	CHECK_STR(shown(findings), "ba");
	review(findings, "a 112, b 105", false);
	CHECK_STR(shown(findings), "ba");
	review(findings, "a 112, b 105, c 1000", false);
	CHECK_STR(shown(findings), "ba");
	review(findings, "a 112, b 105, c 1000", false);
	CHECK_STR(shown(findings), "cba");
	/* the end knows no patience: what was seen last, by cost */
	review(findings, "a 112, b 105, d 110", true);
	CHECK_STR(shown(findings), "adb");
	findings_free(findings);
}

TEST(findings_of_one_subject_are_one_and_warnings_come_first)
{
	struct findings *findings = findings_new();
	int i;

	for (i = 0; i < 2; i++) {
		findings_begin(findings);
		see(findings, "a", 1, SEVERITY_NOTE, 900);
		see(findings, "a", 2, SEVERITY_WARNING, 10);
		see(findings, "a", 2, SEVERITY_WARNING, 30);
		see(findings, "a", 2, SEVERITY_WARNING, 20);
		see(findings, "b", 2, SEVERITY_WARNING, -5);
		findings_end(findings, false);
	}
	CHECK_INT(findings_shown(findings), 3);
	CHECK_INT(findings_at(findings, 0)->cost_ns, 30);
	CHECK_INT(findings_at(findings, 1)->cost_ns, 0);
	CHECK(findings_at(findings, 2)->severity == SEVERITY_NOTE);
	CHECK(!findings_at(findings, 3));
	findings_free(findings);
}

/* A name of two-byte characters, cut at every byte, at two places. */
TEST(findings_hold_whole_characters)
{
	struct findings *findings = findings_new();
	struct finding finding = { .id = "a", .severity = SEVERITY_WARNING };
	char whole[64];

	for (int cut = 0; cut <= 8; cut++) {
		snprintf(whole, sizeof(whole), "waits for %.*s: slow", cut / 2 * 2, "äöüß");
		snprintf(finding.title, sizeof(finding.title), "waits for %.*s: slow", cut, "äöüß");
		snprintf(finding.lines[1], sizeof(finding.lines[1]), "%.*s", cut, "äöüß");
		for (int i = 0; i < 2; i++) {
			findings_begin(findings);
			finding_add(findings, &finding);
			findings_end(findings, true);
		}
		CHECK_STR(findings_at(findings, 0)->title, whole);
		CHECK_INT(strlen(findings_at(findings, 0)->lines[1]), cut / 2 * 2);
	}
	findings_free(findings);
}

TEST(findings_are_bounded)
{
	struct findings *findings = findings_new();
	uint32_t subject;
	int i;

	for (i = 0; i < 2; i++) {
		findings_begin(findings);
		for (subject = 0; subject < 2 * FINDINGS_MAX; subject++)
			see(findings, "a", subject, SEVERITY_NOTE, subject);
		findings_end(findings, false);
	}
	CHECK_INT(findings_shown(findings), FINDINGS_MAX);
	CHECK(findings_bytes(findings) < 4 * FINDINGS_MAX * sizeof(struct finding));
	for (subject = 1; subject < FINDINGS_MAX; subject++)
		CHECK(findings_at(findings, subject - 1)->cost_ns >=
		      findings_at(findings, subject)->cost_ns * 10 / 11);
	findings_free(findings);
}

/* Whatever is handed in: shown only after two reviews, gone only after three,
 * never twice, neighbours never clearly in the wrong order. */
TEST(findings_are_calm_at_random)
{
	struct findings *findings = findings_new();
	unsigned seen[6] = { 0 }, missed[6] = { 0 };
	bool is_shown[6] = { false };
	int turn, i;

	for (turn = 0; turn < 3000; turn++) {
		bool final = turn == 2999;
		size_t at;

		findings_begin(findings);
		for (i = 0; i < 6; i++) {
			bool now = test_below(3) != 0;

			if (now)
				see(findings, "x", (uint32_t)i, SEVERITY_WARNING,
				    (int64_t)test_below(1000));
			seen[i] = now ? seen[i] + 1 : 0;
			missed[i] = now ? 0 : missed[i] + 1;
			is_shown[i] = final ? now : is_shown[i] ? missed[i] < 3 : seen[i] >= 2;
		}
		findings_end(findings, final);
		for (at = 0; findings_at(findings, at); at++) {
			const struct finding *one = findings_at(findings, at);
			const struct finding *next = findings_at(findings, at + 1);

			CHECK(is_shown[one->subject]);
			if (next)
				CHECK(next->cost_ns <= one->cost_ns + one->cost_ns / 10 + 1);
		}
		for (i = 0; i < 6; i++)
			at -= is_shown[i];
		CHECK_INT(at, 0);
	}
	findings_free(findings);
}

TEST(findings_have_words)
{
	CHECK_STR(severity_name(SEVERITY_WARNING), "warning");
	CHECK_STR(evidence_name(EVIDENCE_COPIES), "copies");
}
