/* SPDX-License-Identifier: MIT */
/* The table of Windows builds, and versions as they are written. */
#include "base/tests/unit.h"
#include "containers/judging/compat/windows_builds.h"

static void test_rows(void)
{
	size_t count = 0;
	const struct windows_build *rows = windows_builds(&count);
	CU_ASSERT_TRUE(count > 10);
	for (size_t i = 0; i < count; i++) {
		CU_ASSERT_TRUE(rows[i].name[0] != '\0');
		CU_ASSERT_EQUAL(rows[i].schema == NULL, rows[i].source == WINDOWS_BUILD_UNKNOWN);
		if (rows[i].schema != NULL)
			CU_ASSERT_TRUE(hcs_version_compare(rows[i].at_least, *rows[i].schema) <= 0);
		if (i == 0)
			continue;
		CU_ASSERT_TRUE(rows[i - 1].build < rows[i].build);
		CU_ASSERT_TRUE(hcs_version_compare(rows[i - 1].at_least, rows[i].at_least) <= 0);
	}
}

static void expect_schema(unsigned build, unsigned minor)
{
	const struct windows_build *row = windows_build_find(build);
	CU_ASSERT_TRUE(row != NULL && row->schema != NULL);
	if (row == NULL || row->schema == NULL)
		return;
	UNIT_INT(row->schema->major, 2);
	UNIT_INT(row->schema->minor, minor);
}

/* The published results: 2019 has 2.1, 1903 and 1909 2.2, 2004 to 22H2 2.3, 2022 2.5, 11 22H2 2.7.
 */
static void test_published_results(void)
{
	expect_schema(17763, 1);
	expect_schema(18362, 2);
	expect_schema(18363, 2);
	expect_schema(19041, 3);
	expect_schema(19042, 3);
	expect_schema(19045, 3);
	expect_schema(20348, 5);
	expect_schema(22000, 6);
	expect_schema(22621, 7);
	CU_ASSERT_PTR_NULL(windows_build_find(26100)->schema);
	CU_ASSERT_PTR_NULL(windows_build_find(12345));
}

static void test_at_least(void)
{
	struct hcs_version version = {0};
	struct error err = {0};
	UNIT_INT(windows_build_at_least(17763, &version, &err), 0);
	UNIT_INT(version.minor, 1);
	UNIT_INT(windows_build_at_least(26100, &version, &err), 0);
	UNIT_INT(version.minor, 11);
	UNIT_INT(windows_build_at_least(99999, &version, &err), 0);
	UNIT_INT(version.minor, 11);
	UNIT_INT(windows_build_at_least(19000, &version, &err), 0);
	UNIT_INT(version.minor, 2);
	UNIT_INT(windows_build_at_least(9600, &version, &err), ERROR_NOT_FOUND);
	UNIT_CONTAINS(err.text, "9600");
}

static void test_versions(void)
{
	struct windows_version version = {0};
	struct error err = {0};
	UNIT_INT(windows_version_parse("20348", "--build", &version, &err), 0);
	UNIT_INT(version.major, 10);
	UNIT_INT(version.build, 20348);
	CU_ASSERT_FALSE(version.revision_known);
	UNIT_INT(windows_version_parse("10.0.26100.1742", "--build", &version, &err), 0);
	UNIT_INT(version.build, 26100);
	UNIT_INT(version.revision, 1742);
	CU_ASSERT_TRUE(version.revision_known);
	UNIT_INT(windows_version_parse("6.3.9600", "--build", &version, &err), 0);
	UNIT_INT(version.major, 6);
	UNIT_INT(version.minor, 3);
	UNIT_INT(windows_version_parse("20348.2582", "--build", &version, &err), 0);
	UNIT_INT(version.major, 10);
	UNIT_INT(version.build, 20348);
	UNIT_INT(version.revision, 2582);
	UNIT_INT(windows_version_parse("", "--build", &version, &err), ERROR_FORMAT);
	UNIT_INT(windows_version_parse("10.0.x.1", "--build", &version, &err), ERROR_FORMAT);
	UNIT_CONTAINS(err.text, "--build");
	UNIT_INT(windows_version_parse("10.0.99999999.1", "--build", &version, &err), ERROR_LIMIT);
	UNIT_INT(windows_version_parse("-1", "--build", &version, &err), ERROR_LIMIT);
	UNIT_INT(windows_version_parse("1.2.3.4.5", "--build", &version, &err), ERROR_FORMAT);
}

UNIT_MAIN("windows builds", {"rows", test_rows}, {"published results", test_published_results},
	  {"at least", test_at_least}, {"versions", test_versions})
