/* SPDX-License-Identifier: MIT */
#include "discovery/tool/tool.h"

#include "base/cleanup.h"
#include "base/style.h"

#include <string.h>

enum { COLUMNS = 6 };

struct row {
	struct text cells[COLUMNS];
};

#define CLEANUP_ROW __attribute__((cleanup(row_free)))

static void row_free(struct row *row)
{
	for (size_t i = 0; i < COLUMNS; i++)
		text_free(&row->cells[i]);
}

/* Backslashes stay as they are, because paths of Windows are copied from the output. */
static void add_escaped(struct text *out, const char *string)
{
	for (;;) {
		size_t length = strcspn(string, "\\");

		text_add_escaped(out, string, length);
		if (string[length] == '\0')
			return;
		text_add(out, "\\");
		string += length + 1;
	}
}

static void add_driver(struct text *out, const struct discovery_device *device)
{
	add_escaped(out, device->driver_name);
	if (device->driver_version[0] != '\0') {
		text_add(out, device->driver_name[0] != '\0' ? " " : "");
		add_escaped(out, device->driver_version);
	}
}

static void row_fill(struct row *row, const struct discovery_device *device)
{
	add_escaped(&row->cells[0], device->id);
	text_add(&row->cells[1], discovery_kind_name(device->kind));
	add_escaped(&row->cells[2], device->vendor);
	add_escaped(&row->cells[3], device->description);
	add_driver(&row->cells[4], device);
	text_add(&row->cells[5], discovery_health_name(device->health));
}

static void add_cell(struct text *out, const char *cell, size_t width, bool last)
{
	size_t used = text_columns(cell, strlen(cell));

	text_add(out, cell);
	if (!last)
		text_addf(out, "%*s", (int)(width > used ? width - used : 0) + 2, "");
}

void table_devices(const struct discovery_snapshot *snapshot, bool color, struct text *out)
{
	static const char *const titles[COLUMNS] = {"ID",	   "KIND",   "VENDOR",
						    "DESCRIPTION", "DRIVER", "HEALTH"};
	size_t widths[COLUMNS] = {0};

	if (snapshot->device_count == 0) {
		text_add(out, "no devices\n");
		return;
	}
	for (size_t c = 0; c < COLUMNS; c++)
		widths[c] = strlen(titles[c]);
	for (size_t i = 0; i < snapshot->device_count; i++) {
		struct row row CLEANUP_ROW = {0};

		row_fill(&row, &snapshot->devices[i]);
		for (size_t c = 0; c < COLUMNS; c++) {
			size_t width = text_columns(text_string(&row.cells[c]), row.cells[c].size);
			if (width > widths[c])
				widths[c] = width;
		}
	}

	text_add(out, style(color, STYLE_BOLD));
	for (size_t c = 0; c < COLUMNS; c++)
		add_cell(out, titles[c], widths[c], c == COLUMNS - 1);
	text_addf(out, "%s\n", style(color, STYLE_RESET));
	for (size_t i = 0; i < snapshot->device_count; i++) {
		const struct discovery_device *device = &snapshot->devices[i];
		const bool healthy = device->health == DISCOVERY_HEALTHY;
		struct row row CLEANUP_ROW = {0};

		row_fill(&row, device);
		for (size_t c = 0; c < COLUMNS - 1; c++)
			add_cell(out, text_string(&row.cells[c]), widths[c], false);
		text_addf(out, "%s%s%s\n", style(color, healthy ? STYLE_GREEN : STYLE_RED),
			  text_string(&row.cells[COLUMNS - 1]), style(color, STYLE_RESET));
	}
}

static void add_field(struct text *out, const char *name, const char *value)
{
	if (value[0] == '\0')
		return;
	text_addf(out, "  %-16s", name);
	add_escaped(out, value);
	text_add(out, "\n");
}

static void add_number(struct text *out, const char *name, int64_t value, const char *unit)
{
	if (value != DISCOVERY_UNKNOWN)
		text_addf(out, "  %-16s%lld%s\n", name, (long long)value, unit);
}

static void add_names(struct text *out, const char *name, const char *const *names)
{
	struct text line CLEANUP_TEXT = {0};

	text_add_joined(&line, ", ", names);
	add_field(out, name, text_string(&line));
}

static void add_files(struct text *out, const struct discovery_device *device)
{
	for (size_t i = 0; i < device->node_count; i++)
		add_field(out, i == 0 ? "nodes" : "", device->nodes[i].path);
	for (size_t i = 0; i < device->file_count; i++) {
		const struct discovery_file *file = &device->files[i];
		struct text line CLEANUP_TEXT = {0};

		text_add(&line, file->source);
		if (!text_equal(file->source, file->destination))
			text_addf(&line, " => %s", file->destination);
		text_addf(&line, "%s (%s)", file->directory ? "/" : "", file->origin);
		add_field(out, i == 0 ? "files" : "", text_string(&line));
	}
	for (size_t i = 0; i < device->variable_count; i++) {
		struct text line CLEANUP_TEXT = {0};

		text_addf(&line, "%s=%s", device->environment[i].name,
			  device->environment[i].value);
		add_field(out, i == 0 ? "environment" : "", text_string(&line));
	}
}

static void add_device(struct text *out, const struct discovery_device *device, bool color)
{
	const struct {
		bool has;
		const char *name;
	} traits[] = {
		{device->display, "display"},
		{device->compute, "compute"},
		{device->integrated, "integrated"},
		{device->detachable, "detachable"},
	};
	const char *had[ARRAY_SIZE(traits) + 1] = {NULL};
	struct text driver CLEANUP_TEXT = {0};
	size_t count = 0;

	for (size_t i = 0; i < ARRAY_SIZE(traits); i++) {
		if (traits[i].has)
			had[count++] = traits[i].name;
	}
	text_addf(out, "%s%s%s\n", style(color, STYLE_BOLD), device->id, style(color, STYLE_RESET));
	add_field(out, "description", device->description);
	add_field(out, "vendor", device->vendor);
	add_field(out, "manufacturer", device->manufacturer);
	add_field(out, "kind", discovery_kind_name(device->kind));
	add_names(out, "traits", had);
	add_field(out, "health", discovery_health_name(device->health));
	add_field(out, "", device->health_reason);
	add_driver(&driver, device);
	add_field(out, "driver", text_string(&driver));
	add_field(out, "user-mode driver", device->user_mode_driver);
	add_field(out, "driver date", device->driver_date);
	add_field(out, "driver INF", device->driver_inf);
	add_field(out, "driver key", device->driver_key);
	add_field(out, "driver store", device->driver_store_path);
	add_field(out, "PCI address", device->pci_address);
	if (device->pci_vendor != DISCOVERY_UNKNOWN && device->pci_device != DISCOVERY_UNKNOWN) {
		text_addf(out, "  %-16s%04x:%04x", "PCI ids", (unsigned)device->pci_vendor,
			  (unsigned)device->pci_device);
		if (device->pci_subsystem_vendor >= 0 && device->pci_subsystem_device >= 0)
			text_addf(out, ", subsystem %04x:%04x",
				  (unsigned)device->pci_subsystem_vendor,
				  (unsigned)device->pci_subsystem_device);
		if (device->pci_revision >= 0)
			text_addf(out, ", revision %02x", (unsigned)device->pci_revision);
		text_add(out, "\n");
	}
	for (size_t i = 0; device->location_paths[i] != NULL; i++)
		add_field(out, i == 0 ? "location paths" : "", device->location_paths[i]);
	add_field(out, "not allocatable", device->not_allocatable_reason);
	add_field(out, "PnP instance", device->pnp_instance_id);
	add_number(out, "LUID", device->luid != 0 ? device->luid : DISCOVERY_UNKNOWN, "");
	add_number(out, "memory", device->dedicated_memory, " bytes");
	add_number(out, "shared memory", device->shared_memory, " bytes");
	add_number(out, "NUMA node", device->numa_node, "");
	add_names(out, "APIs", device->apis);
	add_names(out, "attributes", device->attributes);
	add_files(out, device);
}

void table_details(const struct discovery_snapshot *snapshot, bool color, struct text *out)
{
	if (snapshot->device_count == 0)
		text_add(out, "no devices\n");
	for (size_t i = 0; i < snapshot->device_count; i++) {
		text_add(out, i != 0 ? "\n" : "");
		add_device(out, &snapshot->devices[i], color);
	}
}

void table_diagnostics(const struct discovery_snapshot *snapshot, bool color, struct text *out)
{
	for (size_t i = 0; i < snapshot->diagnostic_count; i++) {
		text_add(out, style(color, STYLE_YELLOW));
		add_escaped(out, snapshot->diagnostics[i].place);
		text_add(out, ": ");
		add_escaped(out, snapshot->diagnostics[i].message);
		text_addf(out, "%s\n", style(color, STYLE_RESET));
	}
}
