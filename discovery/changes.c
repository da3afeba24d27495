/* SPDX-License-Identifier: MIT */
#include "base/text.h"
#include "discovery/include/gpucert/discovery.h"

static bool change_same_files(const struct discovery_device *a, const struct discovery_device *b)
{
	if (a->file_count != b->file_count)
		return false;
	for (size_t i = 0; i < a->file_count; i++) {
		const struct discovery_file *x = &a->files[i];
		const struct discovery_file *y = &b->files[i];

		if (!text_equal(x->source, y->source) ||
		    !text_equal(x->destination, y->destination) || x->bits != y->bits ||
		    x->directory != y->directory)
			return false;
	}
	return true;
}

static bool change_same_nodes(const struct discovery_device *a, const struct discovery_device *b)
{
	if (a->node_count != b->node_count)
		return false;
	for (size_t i = 0; i < a->node_count; i++) {
		const struct discovery_node *x = &a->nodes[i];
		const struct discovery_node *y = &b->nodes[i];

		if (!text_equal(x->path, y->path) ||
		    !text_equal(x->container_path, y->container_path) ||
		    !text_equal(x->permissions, y->permissions))
			return false;
	}
	return true;
}

static bool change_same_variables(const struct discovery_device *a,
				  const struct discovery_device *b)
{
	if (a->variable_count != b->variable_count)
		return false;
	for (size_t i = 0; i < a->variable_count; i++) {
		if (!text_equal(a->environment[i].name, b->environment[i].name) ||
		    !text_equal(a->environment[i].value, b->environment[i].value))
			return false;
	}
	return true;
}

static bool change_same_names(const char *const *a, const char *const *b)
{
	while (*a != NULL && *b != NULL && text_equal(*a, *b)) {
		a++;
		b++;
	}
	return *a == NULL && *b == NULL;
}

static bool change_same_identity(const struct discovery_device *a, const struct discovery_device *b)
{
	return a->kind == b->kind && text_equal(a->vendor, b->vendor) &&
	       text_equal(a->manufacturer, b->manufacturer) &&
	       text_equal(a->description, b->description) && a->pci_vendor == b->pci_vendor &&
	       a->pci_device == b->pci_device &&
	       a->pci_subsystem_vendor == b->pci_subsystem_vendor &&
	       a->pci_subsystem_device == b->pci_subsystem_device &&
	       a->pci_revision == b->pci_revision && text_equal(a->pci_address, b->pci_address) &&
	       text_equal(a->location_path, b->location_path) && a->luid == b->luid &&
	       text_equal(a->pnp_instance_id, b->pnp_instance_id);
}

static bool change_same_state(const struct discovery_device *a, const struct discovery_device *b)
{
	return text_equal(a->driver_name, b->driver_name) &&
	       text_equal(a->driver_version, b->driver_version) &&
	       text_equal(a->driver_key, b->driver_key) &&
	       text_equal(a->user_mode_driver, b->user_mode_driver) &&
	       text_equal(a->driver_date, b->driver_date) &&
	       text_equal(a->driver_inf, b->driver_inf) &&
	       text_equal(a->driver_store_path, b->driver_store_path) &&
	       a->dedicated_memory == b->dedicated_memory && a->shared_memory == b->shared_memory &&
	       a->integrated == b->integrated && a->detachable == b->detachable &&
	       a->display == b->display && a->compute == b->compute &&
	       a->allocatable == b->allocatable &&
	       text_equal(a->not_allocatable_reason, b->not_allocatable_reason) &&
	       a->numa_node == b->numa_node && a->health == b->health &&
	       text_equal(a->health_reason, b->health_reason);
}

static enum discovery_change change_of(const struct discovery_device *before,
				       const struct discovery_device *after)
{
	bool same = change_same_identity(before, after) && change_same_state(before, after) &&
		    change_same_names(before->apis, after->apis) &&
		    change_same_names(before->attributes, after->attributes) &&
		    change_same_names(before->location_paths, after->location_paths) &&
		    change_same_files(before, after) && change_same_nodes(before, after) &&
		    change_same_variables(before, after);

	return same ? DISCOVERY_SAME : DISCOVERY_CHANGED;
}

const char *discovery_change_name(enum discovery_change change)
{
	switch (change) {
	case DISCOVERY_ADDED:
		return "added";
	case DISCOVERY_REMOVED:
		return "removed";
	case DISCOVERY_CHANGED:
		return "changed";
	case DISCOVERY_SAME:
		return "same";
	}
	return "unknown";
}

size_t discovery_changes(const struct discovery_snapshot *before,
			 const struct discovery_snapshot *after,
			 void (*each)(enum discovery_change change,
				      const struct discovery_device *device, void *user),
			 void *user)
{
	size_t count = 0;

	for (size_t i = 0; i < before->device_count; i++) {
		const struct discovery_device *device = &before->devices[i];

		if (discovery_find(after, device->id) == NULL) {
			each(DISCOVERY_REMOVED, device, user);
			count++;
		}
	}
	for (size_t i = 0; i < after->device_count; i++) {
		const struct discovery_device *device = &after->devices[i];
		const struct discovery_device *old = discovery_find(before, device->id);
		enum discovery_change change =
			old != NULL ? change_of(old, device) : DISCOVERY_ADDED;

		if (change != DISCOVERY_SAME) {
			each(change, device, user);
			count++;
		}
	}
	return count;
}
