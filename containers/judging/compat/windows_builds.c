/* SPDX-License-Identifier: MIT */
#include "containers/judging/compat/windows_builds.h"

#include "base/cleanup.h"
#include "base/text.h"

static const struct hcs_version v1_0 = {1, 0};
static const struct hcs_version v2_1 = {2, 1};
static const struct hcs_version v2_2 = {2, 2};
static const struct hcs_version v2_3 = {2, 3};
static const struct hcs_version v2_5 = {2, 5};
static const struct hcs_version v2_6 = {2, 6};
static const struct hcs_version v2_7 = {2, 7};

/*
 * Documented: MicrosoftDocs/Virtualization-Documentation,
 * virtualization/api/hcs/SchemaReference.md, which ends at 2.6. Measured: the table of TensorWorks'
 * article "Bringing full GPU support to Windows containers in Kubernetes". 2016: hcsshim uses
 * schema 2 from 17763 on. 22631 and 26200 are 22621 and 26100 with other features switched on.
 * 26100: hcsshim sends a member of schema 2.11 to it.
 */
static const struct windows_build builds[] = {
	{14393, "Windows Server 2016", &v1_0, 0, {1, 0}, WINDOWS_BUILD_INFERRED},
	{17763, "Windows Server 2019", &v2_1, 0, {2, 1}, WINDOWS_BUILD_DOCUMENTED},
	{18362, "Windows 10 1903", &v2_2, 0, {2, 2}, WINDOWS_BUILD_DOCUMENTED},
	{18363, "Windows 10 1909", &v2_2, 0, {2, 2}, WINDOWS_BUILD_MEASURED},
	{19041, "Windows 10 2004", &v2_3, 0, {2, 3}, WINDOWS_BUILD_DOCUMENTED},
	{19042, "Windows 10 20H2", &v2_3, 0, {2, 3}, WINDOWS_BUILD_MEASURED},
	{19043, "Windows 10 21H1", &v2_3, 0, {2, 3}, WINDOWS_BUILD_INFERRED},
	{19044, "Windows 10 21H2", &v2_3, 0, {2, 3}, WINDOWS_BUILD_INFERRED},
	{19045, "Windows 10 22H2", &v2_3, 0, {2, 3}, WINDOWS_BUILD_MEASURED},
	{20348, "Windows Server 2022", &v2_5, 169, {2, 3}, WINDOWS_BUILD_DOCUMENTED},
	{22000, "Windows 11 21H2", &v2_6, 194, {2, 5}, WINDOWS_BUILD_DOCUMENTED},
	{22621, "Windows 11 22H2", &v2_7, 0, {2, 7}, WINDOWS_BUILD_MEASURED},
	{22631, "Windows 11 23H2", &v2_7, 0, {2, 7}, WINDOWS_BUILD_INFERRED},
	{25398, "Windows Server 23H2", NULL, 0, {2, 7}, WINDOWS_BUILD_UNKNOWN},
	{26100, "Windows Server 2025, Windows 11 24H2", NULL, 0, {2, 11}, WINDOWS_BUILD_UNKNOWN},
	{26200, "Windows 11 25H2", NULL, 0, {2, 11}, WINDOWS_BUILD_UNKNOWN},
	{28000, "Windows 11 26H1", NULL, 0, {2, 11}, WINDOWS_BUILD_UNKNOWN},
};

const struct windows_build *windows_builds(size_t *count)
{
	*count = ARRAY_SIZE(builds);
	return builds;
}

const struct windows_build *windows_build_find(unsigned build)
{
	for (size_t i = 0; i < ARRAY_SIZE(builds); i++) {
		if (builds[i].build == build)
			return &builds[i];
	}
	return NULL;
}

const char *windows_build_source_name(enum windows_build_source source)
{
	static const char *const names[] = {
		[WINDOWS_BUILD_DOCUMENTED] = "documented",
		[WINDOWS_BUILD_MEASURED] = "measured",
		[WINDOWS_BUILD_INFERRED] = "inferred",
		[WINDOWS_BUILD_UNKNOWN] = "unknown",
	};
	return names[source];
}

int windows_build_at_least(unsigned build, struct hcs_version *out, struct error *err)
{
	if (build < builds[0].build)
		return error_set(err, ERROR_NOT_FOUND,
				 "build %u is older than Windows Server 2016 (%u), the first with "
				 "containers",
				 build, builds[0].build);
	for (size_t i = 0; i < ARRAY_SIZE(builds) && builds[i].build <= build; i++)
		*out = builds[i].at_least;
	return 0;
}

int windows_version_parse(const char *string, const char *what, struct windows_version *out,
			  struct error *err)
{
	enum { SHORT = 2, PARTS = 4, NUMBER_MAX = 999999 };
	struct text_list parts CLEANUP_TEXT_LIST = {0};
	long long numbers[PARTS] = {0};
	text_list_split(&parts, string, '.');
	if (parts.count == 0 || parts.count > PARTS)
		return error_set(
			err, ERROR_FORMAT,
			"%s: '%s' is not a version of Windows such as 20348, 20348.2582 or "
			"10.0.20348.2582",
			what, string);
	for (size_t i = 0; i < parts.count; i++) {
		int rc = text_to_int64(parts.items[i], what, 0, NUMBER_MAX, &numbers[i], err);
		if (rc < 0)
			return rc;
	}
	if (parts.count <= SHORT)
		*out = (struct windows_version){
			.major = 10,
			.build = (unsigned)numbers[0],
			.revision_known = parts.count == SHORT,
			.revision = (unsigned)numbers[1],
		};
	else
		*out = (struct windows_version){
			.major = (unsigned)numbers[0],
			.minor = (unsigned)numbers[1],
			.build = (unsigned)numbers[2],
			.revision_known = parts.count == PARTS,
			.revision = (unsigned)numbers[3],
		};
	return 0;
}
