/* SPDX-License-Identifier: MIT */
/* Words of diff that are recordings; what cannot be made is no report. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "tests/unit/test.h"
#include "tui/run/reports.h"

TEST(reports_of_folders_only)
{
	char folder[] = "/tmp/tftop-reports.XXXXXX", file[64];

	CHECK(mkdtemp(folder) != NULL);
	snprintf(file, sizeof(file), "%s/file", folder);
	CHECK(!reports_wants(file));
	CHECK(mkdir(file, 0700) == 0 && reports_wants(file) && reports_wants(folder));
	/* Words stay what they are, whatever a folder is called. */
	CHECK(chdir(folder) == 0 && mkdir("median", 0700) == 0 && mkdir("7ms", 0700) == 0);
	CHECK(!reports_wants("median") && !reports_wants("7ms") && reports_wants("./median"));
	CHECK(rmdir("median") == 0 && rmdir("7ms") == 0 && rmdir("file") == 0);
	CHECK(rmdir(folder) == 0);
}

/* Here the other tftop is these tests: it is stopped before it says anything. */
TEST(reports_can_be_stopped)
{
	struct reports reports = { .n = 0 };
	char error[512] = "";

	CHECK(reports_look(&reports, error, sizeof(error)) == REPORTS_NONE);
	CHECK(!reports_find(NULL, "a") && !reports_find(&reports, "a"));
	CHECK(reports_start(&reports, "a", error, sizeof(error)));
	CHECK_STR(reports_path(&reports), "a");
	reports_stop(&reports);
	CHECK(!reports_path(&reports));
	reports_release(&reports);
}
