/* SPDX-License-Identifier: MIT */
/* Which ids a check may use. */
#include "conformance/checks/rig_ids.h"

#include "conformance/checks/list_and_watch.h"

#include <string.h>

enum { NAMED_MAX = 8 /* in a reason */ };

/* Does the id name the device, by the driver's UUID or by discovery's id? */
static bool names(const char *id, const struct discovery_device *device)
{
	return granted_is_named(id, device) || list_may_be_one_device(id, device->id);
}

const struct held_device *rig_device_holder(const struct rig *rig,
					    const struct discovery_device *device)
{
	items_each (held, rig->context->held, rig->context->held_count) {
		if (names(held->id, device))
			return held;
	}
	return NULL;
}

const struct held_device *rig_holder(const struct rig *rig, const char *resource, const char *id)
{
	const struct held_device *found = NULL;
	items_each (held, rig->context->held, rig->context->held_count) {
		if (text_equal(held->resource, resource) && list_may_be_one_device(held->id, id))
			return held;
	}
	node_each (device, rig->context->node) {
		if (rig->context->held_count != 0 && found == NULL && names(id, device))
			found = rig_device_holder(rig, device);
	}
	return found;
}

bool rig_is_held(const char *resource, const char *id, void *user)
{
	return rig_holder(user, resource, id) != NULL;
}

const char *rig_busy(const struct rig *rig, const char *what, const struct held_device *held)
{
	return check_format(rig->run, "busy: %s is held by pod %s, container %s", what, held->pod,
			    held->container);
}

size_t rig_free_ids(struct rig *rig, const char *resource, struct text_list *ids, struct text *busy)
{
	const struct kubelet_device_list *list = kubelet_resource_devices(rig->kubelet, resource);
	struct text_list healthy CLEANUP_TEXT_LIST = {0};
	struct text why CLEANUP_TEXT = {0};
	size_t held_count = 0;
	listed_each (device, list) {
		if (kubelet_device_is_healthy(device))
			text_list_add(&healthy, device->id);
	}
	text_list_sort(&healthy);
	/* An id that was sent twice is one device for the kubelet. */
	for (size_t i = 0; i < healthy.count; i++) {
		const char *id = healthy.items[i];
		const struct held_device *held = rig_holder(rig, resource, id);
		if (i != 0 && strcmp(id, healthy.items[i - 1]) == 0)
			continue;
		if (held == NULL)
			text_list_add(ids, id);
		else if (held_count++ < NAMED_MAX)
			text_addf(&why, "%s%s", held_count > 1 ? "; " : "",
				  rig_busy(rig, id, held));
	}
	if (held_count > NAMED_MAX)
		text_addf(&why, "; and %zu more", held_count - NAMED_MAX);
	if (held_count != 0 && !text_list_has(&rig->busy, resource)) {
		text_list_add(&rig->busy, resource);
		check_note(rig->run, "left out: %s", text_string(&why));
	}
	text_addf(busy, "%s%s", held_count != 0 && busy->size != 0 ? "; " : "", text_string(&why));
	return held_count;
}

bool rig_healthy_ids(struct rig *rig, const char *resource, struct text_list *ids)
{
	struct text busy CLEANUP_TEXT = {0};
	const size_t before = ids->count;
	(void)rig_free_ids(rig, resource, ids, &busy);
	if (ids->count != before)
		return true;
	if (busy.size == 0)
		return check_expect(rig->run, false, "healthy devices", "at least one",
				    "none of %s", resource);
	check_unsupported(rig->run, "%s", text_string(&busy));
	return false;
}

bool rig_for_each(struct rig *rig, check_judge *judge, void *user)
{
	rig_each (resource, rig) {
		struct text_list ids CLEANUP_TEXT_LIST = {0};
		struct rig_item item = {.resource = resource, .ids = &ids, .user = user};
		if (!rig_healthy_ids(rig, item.resource, &ids))
			return false;
		judge(rig, &item);
	}
	return true;
}

void rig_each_resource(struct check_run *run)
{
	struct rig *rig = rig_ready(run);
	if (rig != NULL)
		(void)rig_for_each(rig, check_row(run)->judge, NULL);
}
