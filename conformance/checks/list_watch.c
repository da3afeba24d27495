/* SPDX-License-Identifier: MIT */
/* Device lists while nobody calls the plugin. */
#include "base/cleanup.h"
#include "base/clock.h"
#include "base/memory.h"
#include "conformance/checks/list_and_watch.h"

#include "rpc/rpc.h"

#include <stdlib.h>
#include <string.h>

enum {
	IDLE_MS = 11000,  /* plugins poll, and limit streams and connections, by 5 or 10 s */
	REPEAT_MS = 2000, /* registration.no-repeat watches so long */
	STORM_MS = 2000,
	WATCH_THOROUGH_MS = 600000, /* LAW-07, LAW-14 */
	AGAIN_MS = 5000,	    /* a plugin that ended a stream registers again */
	CHANGES_MAX = 2,	    /* unhealthy, then healthy again */
};

/* A device that appeared in some list. */
struct steady_device {
	char *id, *numa;
	bool healthy;
	unsigned changes; /* changes of its health */
};

/* The devices of one resource, by id. */
struct steady_resource {
	char *name;
	struct steady_device *devices;
	size_t count;
};

struct steady {
	struct steady_resource *resources;
	size_t count;
	struct tally kept, places;
};

static struct steady_resource *find_steady(struct steady *steady, const char *name)
{
	for (size_t i = 0; i < steady->count; i++) {
		if (strcmp(steady->resources[i].name, name) == 0)
			return &steady->resources[i];
	}
	steady->resources =
		memory_resize(steady->resources, steady->count + 1, sizeof(*steady->resources));
	struct steady_resource *resource = &steady->resources[steady->count++];
	*resource = (struct steady_resource){.name = memory_copy(name)};
	return resource;
}

char *list_numa_text(const struct kubelet_device *device)
{
	struct text text CLEANUP_TEXT = {0};
	for (size_t i = 0; i < device->numa_count; i++)
		text_addf(&text, " %lld", (long long)device->numa[i]);
	return memory_copy(device->numa_count != 0 ? text_string(&text) : " none");
}

/* A device of a stable node stays in the lists, healthy or not, and on its NUMA node. Others may appear. */
static void compare_list(const struct kubelet_event *event, void *user)
{
	struct steady *steady = user;
	struct steady_resource *resource = find_steady(steady, event->resource);
	const struct kubelet_device_list *list = event->devices;
	const struct kubelet_device **now CLEANUP_FREE = list_sorted(list);
	struct steady_device *merged =
		memory_allocate(resource->count + list->count + 1, sizeof(*merged));
	size_t count = 0;
	size_t i = 0;
	size_t k = 0;
	while (i < list->count || k < resource->count) {
		int order = i == list->count	   ? 1
			    : k == resource->count ? -1
						   : strcmp(now[i]->id, resource->devices[k].id);
		if (order < 0)
			merged[count++] = (struct steady_device){
				.id = memory_copy(now[i]->id),
				.numa = list_numa_text(now[i]),
				.healthy = kubelet_device_is_healthy(now[i]),
			};
		if (order > 0)
			merged[count++] = resource->devices[k];
		if (order == 0) {
			struct steady_device device = resource->devices[k];
			bool healthy = kubelet_device_is_healthy(now[i]);
			device.changes += healthy != device.healthy;
			device.healthy = healthy;
			char *numa CLEANUP_FREE = list_numa_text(now[i]);
			tally_add(&steady->places, strcmp(numa, device.numa) == 0,
				  "%s on NUMA nodes:%s, before:%s", device.id, numa, device.numa);
			merged[count++] = device;
		}
		if (order >= 0)
			tally_add(&steady->kept, order == 0, "%s %s is gone from a list of %zu",
				  event->resource, resource->devices[k].id, list->count);
		i += order <= 0;
		k += order >= 0;
	}
	free(resource->devices);
	resource->devices = merged;
	resource->count = count;
}

static void steady_end(struct check_run *run, struct steady *steady)
{
	TALLY(calm, run, "health in the time watched",
	      check_format(run, "at most %d changes", CHANGES_MAX));
	tally_end(&steady->kept);
	tally_end(&steady->places);
	for (size_t i = 0; i < steady->count; i++) {
		struct steady_resource *resource = &steady->resources[i];
		for (size_t k = 0; k < resource->count; k++) {
			const struct steady_device *device = &resource->devices[k];
			tally_add(&calm, device->changes <= CHANGES_MAX, "%u changes of %s",
				  device->changes, device->id);
			free(device->id);
			free(device->numa);
		}
		free(resource->devices);
		free(resource->name);
	}
	free(steady->resources);
}

/* Did some list hold a healthy device of the resource? */
static bool was_healthy(struct steady *steady, const char *name)
{
	const struct steady_resource *resource = find_steady(steady, name);
	for (size_t k = 0; k < resource->count; k++) {
		if (resource->devices[k].healthy || resource->devices[k].changes != 0)
			return true;
	}
	return false;
}

struct again {
	struct rig *rig;
	size_t from;
	const char *resource;
};

static bool has_registered_again(void *user)
{
	const struct again *again = user;
	registration_each (r, again->rig->kubelet, again->from) {
		if (text_equal(r->resource, again->resource))
			return true;
	}
	return false;
}

/* An ended stream leaves the resource without devices until the plugin registers again. */
static bool expect_open(struct rig *rig, const char *resource, size_t registrations)
{
	struct kubelet_stream *stream = rig_stream(rig, resource);
	const struct kubelet_stream_state state =
		stream != NULL ? kubelet_stream_state(stream) : (struct kubelet_stream_state){0};
	struct again again = {.rig = rig, .from = registrations, .resource = resource};
	const char *then = "";
	if (!state.open)
		then = rig_wait(rig, has_registered_again, &again,
				context_limit_ms(rig->context, AGAIN_MS), "a registration",
				NULL) == 0
			       ? "; the plugin registered again"
			       : "; the plugin did not register again";
	return check_expect(rig->run, state.open, "stream", "open", "%s%s%s%s",
			    state.open ? "open" : "ended with ",
			    state.open ? "" : rpc_code_name(state.code),
			    state.open || state.text == NULL || state.text[0] == '\0'
				    ? ""
				    : check_format(rig->run, " %s", state.text),
			    then);
}

void list_idle(struct check_run *run)
{
	struct steady steady = {
		.kept = TALLY_OF(run, "devices listed before", "still listed"),
		.places = TALLY_OF(run, "NUMA nodes of a device", "the same in each list")};
	struct rig *rig = rig_watching(run, compare_list, &steady);
	if (rig != NULL) {
		/* registration.no-repeat finds what is wrong at once. */
		size_t registrations = kubelet_registration_count(rig->kubelet);
		uint64_t waited_ms = rig_watch(rig, REPEAT_MS, REPEAT_MS);
		const long long repeats = rig_count_attempts(rig, NULL, registrations);
		size_t early = kubelet_registration_count(rig->kubelet);
		waited_ms += rig_watch(rig, IDLE_MS - REPEAT_MS, WATCH_THOROUGH_MS - REPEAT_MS);
		check_note(run, "watched for %llu ms", (unsigned long long)waited_ms);
		if (repeats < 2)
			(void)check_expect_int(run, "further Register calls",
					       rig_count_attempts(rig, NULL, early), 0);
		rig_each (resource, rig) {
			if (!expect_open(rig, resource, registrations))
				continue;
			struct rpc_answer reply CLEANUP_RPC_ANSWER = {0};
			struct error err = {0};
			int rc = kubelet_call_options(
				kubelet_resource_plugin(rig->kubelet, resource), RIG_CALL_MS,
				&reply, &err);
			(void)rig_expect_answer(rig, rc,
						"GetDevicePluginOptions on the idle connection",
						&reply, &err);
			const struct kubelet_resource_status status =
				kubelet_resource_status(rig->kubelet, resource);
			if (was_healthy(&steady, resource))
				(void)check_expect(run, status.allocatable != 0,
						   "healthy devices at the end", "at least one",
						   "%zu of %zu of %s", status.allocatable,
						   status.capacity, resource);
		}
		rig->on_list = NULL;
	}
	steady_end(run, &steady);
}

void list_no_storm(struct check_run *run)
{
	struct rig *rig = rig_listed(run);
	if (rig == NULL)
		return;
	size_t *before CLEANUP_FREE = memory_allocate(rig->resources.count, sizeof(*before));
	for (size_t i = 0; i < rig->resources.count; i++)
		before[i] = kubelet_stream_state(rig_stream(rig, rig->resources.items[i])).messages;
	/* Devices in use must not cause lists either. */
	rig_allocate_one_each(rig);
	uint64_t waited_ms = rig_watch(rig, STORM_MS, WATCH_THOROUGH_MS);
	long long most = (long long)(waited_ms / 1000) * requirement_limit(CHECK_LAW_14);
	for (size_t i = 0; i < rig->resources.count; i++) {
		size_t now =
			kubelet_stream_state(rig_stream(rig, rig->resources.items[i])).messages;
		(void)check_expect_at_most_measured(run, "lists in the time watched",
						    (long long)(now - before[i]), most);
	}
}
