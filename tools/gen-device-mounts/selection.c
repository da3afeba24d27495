/* SPDX-License-Identifier: MIT */
#include "tools/gen-device-mounts/selection.h"

#include "base/cleanup.h"
#include "discovery/filter.h"
#include "reference-plugin/inventory/inventory.h"

#include <string.h>
#include <strings.h>

/* How a device is meant. */
enum meant { NOT_MEANT, MEANT_AMONG_OTHERS, MEANT_BY_ITSELF };

struct pick {
	const struct selection *selection;
	const struct discovery_snapshot *snapshot;
	enum answer_allocation allocation;
	enum meant *meant; /* of each device of the snapshot */
};

/* `number` is that of a value that has to be one. */
static bool matches(enum selection_key key, const struct discovery_device *device,
		    const char *value, long long number)
{
	bool found = false;
	switch (key) {
	case SELECTION_ID:
		return strcasecmp(device->id, value) == 0;
	case SELECTION_INDEX:
		return (long long)device->index == number;
	case SELECTION_LUID:
		return device->luid != 0 && device->luid == number;
	case SELECTION_PATH:
		for (size_t i = 0; device->location_paths[i] != NULL; i++)
			found = found || strcasecmp(device->location_paths[i], value) == 0;
		return found || (device->location_path[0] != '\0' &&
				 strcasecmp(device->location_path, value) == 0);
	case SELECTION_VENDOR:
		return filter_vendor_matches(value, device);
	case SELECTION_KEYS:
	default:
		return false;
	}
}

static const struct key {
	const char *option;
	bool number; /* or several with commas */
	long long min;
	enum meant as;
} keys[SELECTION_KEYS] = {
	[SELECTION_ID] = {"--id", false, 0, MEANT_BY_ITSELF},
	[SELECTION_INDEX] = {"--index", true, 0, MEANT_BY_ITSELF},
	[SELECTION_LUID] = {"--luid", true, INT64_MIN, MEANT_BY_ITSELF},
	[SELECTION_PATH] = {"--path", false, 0, MEANT_BY_ITSELF},
	[SELECTION_VENDOR] = {"--vendor", false, 0, MEANT_AMONG_OTHERS},
};

/* Marks what one value means; there has to be something. */
static int pick_value(const struct pick *pick, enum selection_key by, const char *value,
		      struct error *err)
{
	const struct key *key = &keys[by];
	long long number = 0;
	bool found = false;
	int rc = key->number ? text_to_int64(value, key->option, key->min, INT64_MAX, &number, err)
			     : 0;
	if (rc < 0)
		return rc;
	for (size_t i = 0; i < pick->snapshot->device_count; i++) {
		if (!matches(by, &pick->snapshot->devices[i], value, number))
			continue;
		found = true;
		if (pick->meant[i] < key->as)
			pick->meant[i] = key->as;
	}
	if (found)
		return 0;
	return error_set(
		err, ERROR_NOT_FOUND,
		"%s %s: the node has no such device (it has %zu; gpu-discovery lists them)",
		key->option, value, pick->snapshot->device_count);
}

static int pick_values(const struct pick *pick, enum selection_key by, struct error *err)
{
	const struct text_list *given = &pick->selection->values[by];
	struct text_list values CLEANUP_TEXT_LIST = {0};
	int rc = 0;
	for (size_t i = 0; rc == 0 && i < given->count; i++) {
		size_t before = values.count;
		rc = keys[by].number ? text_list_split(&values, given->items[i], ',', err)
				     : text_list_add(&values, given->items[i], err);
		if (rc == 0 && values.count == before)
			rc = error_set(err, ERROR_FORMAT, "%s: there is no number",
				       keys[by].option);
	}
	for (size_t i = 0; rc == 0 && i < values.count; i++)
		rc = pick_value(pick, by, values.items[i], err);
	return rc;
}

static int pick_devices(const struct pick *pick, struct error *err)
{
	int rc = 0;
	for (size_t i = 0; pick->selection->all && i < pick->snapshot->device_count; i++)
		pick->meant[i] = MEANT_AMONG_OTHERS;
	for (int by = 0; rc == 0 && by < SELECTION_KEYS; by++)
		rc = pick_values(pick, (enum selection_key)by, err);
	return rc;
}

/* Why a device cannot be given to a container; NULL when it can. */
static const char *objection(const struct pick *pick, const struct discovery_device *device)
{
	bool windows = strcmp(pick->snapshot->system.os, "windows") == 0;
	if (!windows || pick->allocation != ANSWER_CLASS)
		return inventory_unassignable(windows, device);
	return device->display ? NULL
			       : "it only computes, and whether the class of display adapters "
				 "covers such devices is not known";
}

static int by_id(const void *a, const void *b)
{
	const struct discovery_device *const *left = a;
	const struct discovery_device *const *right = b;
	return strcmp((*left)->id, (*right)->id);
}

static int take(const struct pick *pick, size_t index, struct selected *out, struct error *err)
{
	const struct discovery_device *device = &pick->snapshot->devices[index];
	const char *why = objection(pick, device);
	if (why == NULL) {
		out->devices[out->count++] = device;
		return 0;
	}
	if (pick->meant[index] == MEANT_BY_ITSELF)
		return error_set(err, ERROR_UNSUPPORTED,
				 "device '%s' cannot be given to a container: %s", device->id, why);
	return text_list_addf(&out->notes, err, "device '%s' is left out: %s", device->id, why);
}

bool selection_is_empty(const struct selection *selection)
{
	size_t values = 0;
	for (size_t i = 0; i < SELECTION_KEYS; i++)
		values += selection->values[i].count;
	return !selection->all && values == 0;
}

int selection_apply(const struct selection *selection, const struct discovery_snapshot *snapshot,
		    enum answer_allocation allocation, struct selected *out, struct error *err)
{
	enum meant *meant CLEANUP_FREE = calloc(snapshot->device_count + 1, sizeof(*meant));
	struct pick pick = {selection, snapshot, allocation, meant};
	out->devices = calloc(snapshot->device_count + 1, sizeof(struct discovery_device *));
	if (meant == NULL || out->devices == NULL)
		return error_memory(err);
	int rc = pick_devices(&pick, err);
	for (size_t i = 0; rc == 0 && i < snapshot->device_count; i++) {
		if (meant[i] != NOT_MEANT &&
		    (selection->resource == SELECTION_ANY ||
		     (selection->resource == SELECTION_DISPLAY) == snapshot->devices[i].display))
			rc = take(&pick, i, out, err);
	}
	if (rc < 0)
		return rc;
	if (out->count == 0)
		return error_set(err, ERROR_NOT_FOUND,
				 "no device of the node is meant (it has %zu; gpu-discovery lists "
				 "them)%s%s",
				 snapshot->device_count, out->notes.count > 0 ? ": " : "",
				 out->notes.count > 0 ? out->notes.items[0] : "");
	qsort(out->devices, out->count, sizeof(struct discovery_device *), by_id);
	return 0;
}

void selected_free(struct selected *selected)
{
	free(selected->devices);
	text_list_free(&selected->notes);
	*selected = (struct selected){0};
}

void selection_free(struct selection *selection)
{
	for (size_t i = 0; i < SELECTION_KEYS; i++)
		text_list_free(&selection->values[i]);
}
