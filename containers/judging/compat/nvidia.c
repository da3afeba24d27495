/* SPDX-License-Identifier: MIT */
#include "containers/judging/compat/nvidia.h"

#include "base/cleanup.h"
#include "base/text.h"
#include "base/version.h"

#include <stdio.h>
#include <string.h>

static const struct cuda_release releases[] = {
	{"8.0", "8.0", "375.26", "376.51"},	    {"9.0", "9.0", "384.81", "385.54"},
	{"9.1", "9.1", "390.46", "391.29"},	    {"9.2", "9.2", "396.26", "397.44"},
	{"10.0", "10.0", "410.48", "411.31"},	    {"10.1", "10.1", "418.39", "418.96"},
	{"10.2", "10.2", "440.33", "441.22"},	    {"11.0", "11.0", "450.36.06", "451.22"},
	{"11.1", "11.1", "455.23", "456.38"},	    {"11.2", "11.2", "460.27.03", "460.82"},
	{"11.3", "11.3", "465.19.01", "465.89"},    {"11.4", "11.4", "470.42.01", "471.11"},
	{"11.5", "11.5", "495.29.05", "496.04"},    {"11.6", "11.6", "510.39.01", "511.23"},
	{"11.7", "11.7.1", "515.48.07", "516.31"},  {"11.8", "11.8", "520.61.05", "520.06"},
	{"12.0", "12.0", "525.60.13", "527.41"},    {"12.0", "12.0.1", "525.85.12", "528.33"},
	{"12.1", "12.1", "530.30.02", "531.14"},    {"12.2", "12.2", "535.54.03", "536.25"},
	{"12.2", "12.2.1", "535.86.09", "536.67"},  {"12.2", "12.2.2", "535.104.05", "537.13"},
	{"12.3", "12.3", "545.23.06", "545.84"},    {"12.3", "12.3.1", "545.23.08", "546.12"},
	{"12.4", "12.4", "550.54.14", "551.61"},    {"12.4", "12.4.1", "550.54.15", "551.78"},
	{"12.5", "12.5", "555.42.02", "555.85"},    {"12.5", "12.5.1", "555.42.06", "555.85"},
	{"12.6", "12.6", "560.28.03", "560.76"},    {"12.6", "12.6.1", "560.35.03", "560.94"},
	{"12.6", "12.6.3", "560.35.05", "561.17"},  {"12.8", "12.8", "570.26", "570.65"},
	{"12.8", "12.8.1", "570.124.06", "572.61"}, {"12.9", "12.9", "575.51.03", "576.02"},
	{"12.9", "12.9.1", "575.57.08", "576.57"},  {"13.0", "13.0", "580.65.06", ""},
	{"13.0", "13.0.1", "580.82.07", ""},	    {"13.0", "13.0.2", "580.95.05", ""},
	{"13.1", "13.1", "590.44.01", ""},	    {"13.1", "13.1.1", "590.48.01", ""},
	{"13.2", "13.2", "595.45.04", ""},	    {"13.2", "13.2.1", "595.58.03", ""},
	{"13.2", "13.2.2", "595.71.05", ""},
};

const struct cuda_release *cuda_releases(size_t *count)
{
	*count = ARRAY_SIZE(releases);
	return releases;
}

static bool is_minor(const char *toolkit, const char *minor)
{
	size_t size = strlen(minor);
	return strncmp(toolkit, minor, size) == 0 &&
	       (toolkit[size] == '\0' || toolkit[size] == '.');
}

const struct cuda_release *cuda_release_find(const char *toolkit)
{
	const struct cuda_release *found = NULL;
	for (size_t i = 0; i < ARRAY_SIZE(releases); i++) {
		if (is_minor(toolkit, releases[i].minor) &&
		    (found == NULL || version_compare(releases[i].release, toolkit) <= 0))
			found = &releases[i];
	}
	return found;
}

const char *cuda_minor_compatibility(unsigned major, bool windows)
{
	static const struct {
		unsigned major;
		const char *linux_driver, *windows_driver;
	} families[] = {{11, "450.80.02", "452.39"}, {12, "525", "525"}, {13, "580", "580"}};
	for (size_t i = 0; i < ARRAY_SIZE(families); i++) {
		if (families[i].major == major)
			return windows ? families[i].windows_driver : families[i].linux_driver;
	}
	return NULL;
}

/* On Windows, toolkits from 13 on have no driver: the driver's branch is that of Linux. */
static const char *branch_of(const struct cuda_release *row, bool windows)
{
	return windows && row->windows_driver[0] != '\0' ? row->windows_driver : row->linux_driver;
}

void cuda_of_driver(const char *driver, bool windows, const char **least, const char **below)
{
	const struct cuda_release *row = NULL;
	*least = "";
	*below = releases[0].minor;
	for (size_t i = 0; i < ARRAY_SIZE(releases); i++) {
		if (version_compare(driver, branch_of(&releases[i], windows)) < 0) {
			if (row == NULL || !text_equal(row->minor, releases[i].minor)) {
				*below = releases[i].minor;
				break;
			}
			continue;
		}
		row = &releases[i];
		*least = row->minor;
		*below = "";
	}
	if (row != NULL && version_major(driver) == version_major(branch_of(row, windows)))
		*below = NULL;
}

const char *nvidia_driver_of_windows(const char *version, char out[NVIDIA_DRIVER_SIZE])
{
	unsigned parts[4] = {0};
	char end = '\0';
	int count = sscanf(version, "%9u.%9u.%9u.%9u%c", &parts[0], &parts[1], &parts[2], &parts[3],
			   &end);
	if (count != 4 || parts[3] > 9999)
		return version;
	unsigned digits = parts[2] % 10 * 10000 + parts[3];
	(void)snprintf(out, NVIDIA_DRIVER_SIZE, "%u.%02u", digits / 100, digits % 100);
	return out;
}

/* The first matching row wins. */
static const struct nvidia_model models[] = {
	{"Tesla T4*", "7.5", "tesla", NVIDIA_FORWARD_YES},
	{"Tesla V100*", "7.0", "tesla", NVIDIA_FORWARD_YES},
	{"Tesla P100*", "6.0", "tesla", NVIDIA_FORWARD_YES},
	{"Tesla P*", "6.1", "tesla", NVIDIA_FORWARD_YES},
	{"Tesla M10*", "5.0", "tesla", NVIDIA_FORWARD_YES},
	{"Tesla M4*", "5.2", "tesla", NVIDIA_FORWARD_YES},
	{"Tesla M6*", "5.2", "tesla", NVIDIA_FORWARD_YES},
	{"Tesla K80*", "3.7", "tesla", NVIDIA_FORWARD_YES},
	{"A100*", "8.0", "", NVIDIA_FORWARD_YES},
	{"A800*", "8.0", "", NVIDIA_FORWARD_YES},
	{"A30*", "8.0", "", NVIDIA_FORWARD_YES},
	{"A10*", "8.6", "", NVIDIA_FORWARD_YES},
	{"A16*", "8.6", "", NVIDIA_FORWARD_YES},
	{"A2", "8.6", "", NVIDIA_FORWARD_YES},
	{"A40*", "8.6", "", NVIDIA_FORWARD_YES},
	{"L4", "8.9", "", NVIDIA_FORWARD_YES},
	{"L40*", "8.9", "", NVIDIA_FORWARD_YES},
	{"H100*", "9.0", "", NVIDIA_FORWARD_YES},
	{"H200*", "9.0", "", NVIDIA_FORWARD_YES},
	{"H20", "9.0", "", NVIDIA_FORWARD_YES},
	{"H20-*", "9.0", "", NVIDIA_FORWARD_YES},
	{"H800*", "9.0", "", NVIDIA_FORWARD_YES},
	{"GH200*", "9.0", "", NVIDIA_FORWARD_YES},
	{"B200*", "10.0", "", NVIDIA_FORWARD_YES},
	{"GB200*", "10.0", "", NVIDIA_FORWARD_YES},
	{"B300*", "10.3", "", NVIDIA_FORWARD_YES},
	{"GB300*", "10.3", "", NVIDIA_FORWARD_YES},
	{"GB10", "12.1", "", NVIDIA_FORWARD_NO},
	{"GeForce RTX 50*", "12.0", "geforce", NVIDIA_FORWARD_NO},
	{"GeForce RTX 40*", "8.9", "geforce", NVIDIA_FORWARD_NO},
	{"GeForce RTX 30*", "8.6", "geforce", NVIDIA_FORWARD_NO},
	{"GeForce RTX 20*", "7.5", "geforce", NVIDIA_FORWARD_NO},
	{"GeForce GTX 16*", "7.5", "geforce", NVIDIA_FORWARD_NO},
	{"GeForce GTX 10*", "6.1", "geforce", NVIDIA_FORWARD_NO},
	{"GeForce GTX 9*", "5.2", "geforce", NVIDIA_FORWARD_NO},
	{"GeForce *", "", "geforce", NVIDIA_FORWARD_NO},
	{"TITAN RTX*", "7.5", "titan", NVIDIA_FORWARD_NO},
	{"TITAN V*", "7.0", "titan", NVIDIA_FORWARD_NO},
	{"RTX PRO *Blackwell*", "12.0", "", NVIDIA_FORWARD_SELECTED},
	{"RTX *Ada*", "8.9", "", NVIDIA_FORWARD_SELECTED},
	{"RTX A*", "8.6", "", NVIDIA_FORWARD_SELECTED},
	{"T400*", "7.5", "", NVIDIA_FORWARD_SELECTED},
	{"T600*", "7.5", "", NVIDIA_FORWARD_SELECTED},
	{"T1000*", "7.5", "", NVIDIA_FORWARD_SELECTED},
	{"Quadro RTX*", "7.5", "quadro", NVIDIA_FORWARD_SELECTED},
	{"Quadro GV100*", "7.0", "quadro", NVIDIA_FORWARD_SELECTED},
	{"Quadro P*", "6.1", "quadro", NVIDIA_FORWARD_SELECTED},
};

const struct nvidia_model *nvidia_model_find(const char *name)
{
	static const char vendor[] = "NVIDIA ";
	if (text_starts_with(name, vendor))
		name += sizeof(vendor) - 1;
	for (size_t i = 0; i < ARRAY_SIZE(models); i++) {
		if (text_glob(models[i].name, name))
			return &models[i];
	}
	return NULL;
}

void cuda_capabilities(const char *toolkit, const char **oldest, const char **newest)
{
	/* From this toolkit on, until the next row. */
	static const struct {
		const char *toolkit, *oldest, *newest;
	} rows[] = {
		{"10.0", "3.0", "7.5"},	 {"11.0", "3.5", "8.0"},  {"11.1", "3.5", "8.6"},
		{"11.8", "3.5", "9.0"},	 {"12.0", "5.0", "9.0"},  {"12.8", "5.0", "12.0"},
		{"12.9", "5.0", "12.1"}, {"13.0", "7.5", "12.1"},
	};
	const struct cuda_release *last = &releases[ARRAY_SIZE(releases) - 1];
	*oldest = "";
	*newest = "";
	for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
		if (version_compare(toolkit, rows[i].toolkit) >= 0) {
			*oldest = rows[i].oldest;
			*newest = rows[i].newest;
		}
	}
	/* A toolkit newer than the table may know newer devices. */
	if (version_compare(toolkit, last->minor) > 0 && !is_minor(toolkit, last->minor))
		*newest = "";
}
