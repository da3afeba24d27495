/* SPDX-License-Identifier: MIT */
#include "containers/judging/selection/features.h"

#include "base/cleanup.h"
#include "base/cpu_level.h"
#include "base/text.h"
#include "containers/judging/selection/labels.h"

#include <string.h>

void features_free(struct features *features)
{
	arena_free(&features->arena);
	*features = (struct features){0};
}

void features_add(struct features *out, const char *set, size_t instance, const char *name,
		  const char *value)
{
	out->items = arena_grow(&out->arena, out->items, out->count, sizeof(*out->items));
	out->items[out->count++] = (struct feature){set, instance, name, value};
}

/* Adds labels to two sets, as NFD's worker does with a feature file. */
static void add_labels(struct features *out)
{
	struct text lines CLEANUP_TEXT = {0};
	labels_of_host(out->host, LABEL_NFD_PREFIX, &lines);
	const char *line = text_string(&lines);
	for (size_t size = 0; *line != '\0'; line += size + 1) {
		size = strcspn(line, "\n");
		size_t name_size = strcspn(line, "=");
		const char *name = arena_format(&out->arena, "%.*s", (int)name_size, line);
		const char *value = arena_format(&out->arena, "%.*s", (int)(size - name_size - 1),
						 line + name_size + 1);
		features_add(out, "local.label", 0, name, value);
		features_add(out, "local.feature", 0, name, value);
	}
}

void features_of_host(const struct host_facts *host, struct features *out)
{
	static const char *const numbers[] = {"major", "minor", "revision", NULL};
	static const char *const drivers[] = {"nvidia", "amdgpu", "i915", "xe", NULL};
	*out = (struct features){.host = host};
	add_labels(out);
	if (!text_equal(host->os, "linux"))
		return;

	const char *at = host->kernel;
	if (*at != '\0')
		features_add(out, "kernel.version", 0, "full", at);
	for (size_t i = 0, size = 0; numbers[i] != NULL; i++, at += size + (at[size] == '.')) {
		size = strspn(at, "0123456789");
		if (size == 0)
			break;
		features_add(out, "kernel.version", 0, numbers[i],
			     arena_format(&out->arena, "%.*s", (int)size, at));
	}

	/* The features that a level of x86-64 guarantees, as NFD spells them (klauspost/cpuid). */
	static const char *const promised[CPU_LEVEL_MAX + 1][10] = {
		[2] = {"CX16", "LAHF", "POPCNT", "SSE3", "SSE4", "SSE42", "SSSE3"},
		[3] = {"AVX", "AVX2", "BMI1", "BMI2", "F16C", "FMA3", "LZCNT", "MOVBE", "OSXSAVE"},
		[4] = {"AVX512F", "AVX512BW", "AVX512CD", "AVX512DQ", "AVX512VL"},
	};
	for (unsigned level = 1; level <= out->host->cpu_level; level++) {
		features_add(out, "cpu.cpuid", 0, arena_format(&out->arena, "X86_64_V%u", level),
			     NULL);
		for (const char *const *name = promised[level]; *name != NULL; name++)
			features_add(out, "cpu.cpuid", 0, *name, NULL);
	}

	/* If the modules are unknown, those of the GPUs are still known. */
	for (const char *const *module = host->modules; *module != NULL; module++)
		features_add(out, "kernel.loadedmodule", 0, *module, NULL);
	for (size_t i = 0; host->modules[0] == NULL && i < host->gpu_count; i++) {
		if (drivers[text_position(drivers, host->gpus[i].driver)] != NULL)
			features_add(out, "kernel.loadedmodule", 0, host->gpus[i].driver, NULL);
	}
	for (size_t i = 0; i < host->pci_count; i++) {
		const struct host_pci *device = &host->pci[i];
		features_add(out, "pci.device", i + 1, "class", device->class_code);
		features_add(out, "pci.device", i + 1, "vendor", device->vendor);
		features_add(out, "pci.device", i + 1, "device", device->device);
	}
}

bool features_are_all(const struct features *features, const char *set)
{
	const struct host_facts *host = features->host;
	return (text_equal(set, "kernel.version") && features->host->kernel[0] != '\0') ||
	       (text_equal(set, "kernel.loadedmodule") && host->modules[0] != NULL) ||
	       (text_equal(set, "pci.device") && host->pci_count > 0) ||
	       (text_equal(set, FEATURE_MATCHED) && !features->matched_unknown);
}

enum feature_answer features_find(const struct features *features, const char *set, size_t instance,
				  const char *name, const char **value)
{
	*value = NULL;
	for (size_t i = features->count; i > 0; i--) {
		const struct feature *it = &features->items[i - 1];
		if (it->instance == instance && text_equal(it->name, name) &&
		    text_equal(it->set, set)) {
			*value = it->value;
			return FEATURE_YES;
		}
	}

	/* Would the name be known if the host had it? Other feature files may add labels, and instances have more
	 * attributes. */
	bool known = instance == 0 && features_are_all(features, set);
	if (text_equal(set, "cpu.cpuid"))
		known = features->host->cpu_level > 0 && text_starts_with(name, "X86_64_V");
	else if (text_equal(set, "local.label") || text_equal(set, "local.feature"))
		known = text_starts_with(name, LABEL_NFD_PREFIX);
	return known ? FEATURE_NO : FEATURE_UNKNOWN;
}
