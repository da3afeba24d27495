/* SPDX-License-Identifier: MIT */
#include "containers/judging/selection/labels.h"

#include "base/cleanup.h"
#include "base/version.h"
#include "containers/judging/compat/case.h"

#include <stdio.h>
#include <string.h>

static bool is_alphanumeric(char c)
{
	return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9');
}

void label_text(const char *fact, size_t max, char *out)
{
	size_t size = 0;
	while (*fact != '\0' && !is_alphanumeric(*fact))
		fact++;
	for (; *fact != '\0' && size < max; fact++)
		out[size++] = (char)(is_alphanumeric(*fact) || strchr("-_.", *fact) != NULL ? *fact
											    : '_');
	while (size > 0 && !is_alphanumeric(out[size - 1]))
		size--;
	out[size] = '\0';
}

struct labels {
	const char *prefix;
	struct text *out;
};

static void add(const struct labels *labels, const char *name, const char *value)
{
	char valid_name[LABEL_NAME_MAX + 1] = "";
	char valid_value[LABEL_TEXT_MAX + 1] = "";
	label_text(name, LABEL_NAME_MAX, valid_name);
	label_text(value, LABEL_TEXT_MAX, valid_value);
	if (valid_value[0] != '\0')
		text_addf(labels->out, "%s%s=%s\n", labels->prefix, valid_name, valid_value);
}

static void add_number(const struct labels *labels, const char *name, unsigned number)
{
	char text[16] = "";
	(void)snprintf(text, sizeof(text), "%u", number);
	add(labels, name, number > 0 ? text : "");
}

/* Facts about GPUs, by vendor. */
enum fact { DRIVER, CUDA, CAPABILITY, WDDM };
static const struct row {
	const char *vendor, *name;
	enum fact fact;
} rows[] = {
	{"nvidia", "nvidia.driver", DRIVER},
	{"nvidia", "nvidia.cuda", CUDA},
	{"nvidia", "nvidia.compute-capability", CAPABILITY},
	{"nvidia", "nvidia.wddm", WDDM},
	{"amd", "amd.driver", DRIVER},
	{"amd", "amd.wddm", WDDM},
	{"intel", "intel.driver", DRIVER},
	{"intel", "intel.wddm", WDDM},
};

/* The lowest of a vendor's GPUs; none when that of one of them is unknown. */
static void add_row(const struct compat_case *it, const struct row *row,
		    const struct labels *labels)
{
	char lowest[HOST_TEXT_MAX + 1] = "";
	size_t next = 0;
	for (const struct host_gpu *gpu = NULL; (gpu = case_gpu(it, row->vendor, &next)) != NULL;) {
		char buffer[NVIDIA_DRIVER_SIZE] = "";
		bool nvidia = text_equal(gpu->vendor, "nvidia");
		const char *driver =
			nvidia ? case_nvidia_driver(it, gpu, buffer) : gpu->driver_version;
		const char *cuda = gpu->cuda_version;
		const char *below = NULL;
		if (row->fact == CUDA && cuda[0] == '\0')
			cuda_of_driver(driver, case_on_windows(it), &cuda, &below);
		const char *const facts[] = {[DRIVER] = driver,
					     [CUDA] = cuda,
					     [CAPABILITY] = case_capability(gpu),
					     [WDDM] = gpu->wddm};
		const char *fact = facts[row->fact];
		if (fact[0] == '\0')
			return;
		if (lowest[0] == '\0' || version_compare(fact, lowest) < 0)
			(void)snprintf(lowest, sizeof(lowest), "%s", fact);
	}
	add(labels, row->name, lowest);
}

/* "amd.gfx90a=true": an image has code for one architecture each. */
static void add_architectures(const struct compat_case *it, const char *vendor,
			      const struct labels *labels)
{
	struct text_list seen CLEANUP_TEXT_LIST = {0};
	size_t next = 0;
	for (const struct host_gpu *gpu = NULL; (gpu = case_gpu(it, vendor, &next)) != NULL;) {
		char valid[LABEL_TEXT_MAX + 1] = "";
		label_text(gpu->architecture, LABEL_NAME_MAX - 8, valid);
		if (valid[0] == '\0' || text_list_has(&seen, valid))
			continue;
		char *name CLEANUP_FREE = text_format("%s.%s", vendor, valid);
		text_list_add(&seen, valid);
		add(labels, name, "true");
	}
}

void labels_of_host(const struct host_facts *host, const char *prefix, struct text *out)
{
	const struct compat_case it = {.host = host};
	const struct labels labels = {prefix, out};
	add(&labels, "os", host->os);
	add(&labels, "architecture", host->architecture);
	add_number(&labels, "cpu-level", host->cpu_level);
	add(&labels, "kernel", host->kernel);
	add(&labels, "driver-glibc", host->driver_glibc);
	add_number(&labels, "windows.build", host->windows.build);
	add(&labels, "windows.version", host->os_version);
	add(&labels, "windows.edition", host->windows_edition);
	add(&labels, "windows.hcs-schema", host->hcs_schema);
	for (size_t i = 0; i < ARRAY_SIZE(rows); i++)
		add_row(&it, &rows[i], &labels);
	add_architectures(&it, "amd", &labels);
	add_architectures(&it, "intel", &labels);
}
