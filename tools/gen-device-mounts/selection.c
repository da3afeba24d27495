/* SPDX-License-Identifier: MIT */
#include "tools/gen-device-mounts/selection.h"

#include "base/cleanup.h"
#include "base/memory.h"
#include "discovery/filter.h"
#include "reference-plugin/inventory/inventory.h"

#include <string.h>
#include <strings.h>

/* How the command line chose a device. */
enum choice { NOT_CHOSEN, CHOSEN_AMONG_OTHERS, CHOSEN_BY_NAME };

/* `number` is the value as a number, if it must be one. */
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
	enum choice as;
} keys[SELECTION_KEYS] = {
	[SELECTION_ID] = {"--id", false, 0, CHOSEN_BY_NAME},
	[SELECTION_INDEX] = {"--index", true, 0, CHOSEN_BY_NAME},
	[SELECTION_LUID] = {"--luid", true, INT64_MIN, CHOSEN_BY_NAME},
	[SELECTION_PATH] = {"--path", false, 0, CHOSEN_BY_NAME},
	[SELECTION_VENDOR] = {"--vendor", false, 0, CHOSEN_AMONG_OTHERS},
};

/* Marks the devices that one value chooses; at least one must exist. */
static int choose_by_value(const struct discovery_snapshot *snapshot, enum selection_key by,
			   const char *value, enum choice *choices, struct error *err)
{
	const struct key *key = &keys[by];
	long long number = 0;
	bool found = false;

	if (key->number) {
		int rc = text_to_int64(value, key->option, key->min, INT64_MAX, &number, err);
		if (rc < 0)
			return rc;
	}
	for (size_t i = 0; i < snapshot->device_count; i++) {
		if (!matches(by, &snapshot->devices[i], value, number))
			continue;
		found = true;
		if (choices[i] < key->as)
			choices[i] = key->as;
	}
	if (found)
		return 0;
	return error_set(
		err, ERROR_NOT_FOUND,
		"%s %s: the node has no such device (it has %zu; gpu-discovery lists them)",
		key->option, value, snapshot->device_count);
}

static int choose_by_key(const struct selection *selection,
			 const struct discovery_snapshot *snapshot, enum selection_key by,
			 enum choice *choices, struct error *err)
{
	struct text_list values CLEANUP_TEXT_LIST = {0};
	int rc = 0;

	text_each (value, &selection->values[by]) {
		const size_t before = values.count;
		if (keys[by].number)
			text_list_split(&values, value, ',');
		else
			text_list_add(&values, value);
		if (values.count == before)
			return error_set(err, ERROR_FORMAT, "%s: there is no number",
					 keys[by].option);
	}
	for (size_t i = 0; rc == 0 && i < values.count; i++)
		rc = choose_by_value(snapshot, by, values.items[i], choices, err);
	return rc;
}

static int by_id(const void *a, const void *b)
{
	const struct discovery_device *const *left = a;
	const struct discovery_device *const *right = b;
	return strcmp((*left)->id, (*right)->id);
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
	const bool windows = strcmp(snapshot->system.os, "windows") == 0;
	enum choice *choices CLEANUP_FREE =
		memory_allocate(snapshot->device_count + 1, sizeof(*choices));
	int rc = 0;

	out->devices = memory_allocate(snapshot->device_count + 1, sizeof(*out->devices));
	for (size_t i = 0; selection->all && i < snapshot->device_count; i++)
		choices[i] = CHOSEN_AMONG_OTHERS;
	for (int by = 0; rc == 0 && by < SELECTION_KEYS; by++)
		rc = choose_by_key(selection, snapshot, (enum selection_key)by, choices, err);
	if (rc < 0)
		return rc;

	for (size_t i = 0; i < snapshot->device_count; i++) {
		const struct discovery_device *device = &snapshot->devices[i];
		const char *why = NULL;
		if (choices[i] == NOT_CHOSEN ||
		    (selection->resource != SELECTION_ANY &&
		     (selection->resource == SELECTION_DISPLAY) != device->display))
			continue;
		if (!windows || allocation != ANSWER_CLASS)
			why = inventory_unassignable(windows, device);
		else if (!device->display)
			why = "it only computes, and whether the class of display adapters "
			      "covers such devices is not known";
		if (why == NULL)
			out->devices[out->count++] = device;
		else if (choices[i] == CHOSEN_BY_NAME)
			return error_set(err, ERROR_UNSUPPORTED,
					 "device '%s' cannot be given to a container: %s",
					 device->id, why);
		else
			text_list_addf(&out->notes, "device '%s' is left out: %s", device->id, why);
	}
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
