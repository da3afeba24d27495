/* SPDX-License-Identifier: MIT */
#include "base/cleanup.h"
#include "base/tests/starved.h"
#include "base/tests/unit.h"
#include "base/text.h"
#include "reference-plugin/answer/calls.h"
#include "reference-plugin/tests/sample_node.h"

static void ignore_event(const char *event, const struct inventory_device *device, void *user)
{
	(void)event;
	(void)device;
	(void)user;
}

/* Devices "a", "b", ... of the given NUMA nodes, with 4 replicas each. */
static struct inventory node_of(const int *numa, size_t count)
{
	static const char names[] = "a\0b\0c\0d\0e\0f";
	struct inventory inventory = {.replicas = 4};
	struct discovery_device devices[6] = {0};
	struct discovery_snapshot snapshot = sample_snapshot(devices, count);
	for (size_t i = 0; i < count; i++) {
		devices[i] = sample_device(&names[2 * i]);
		devices[i].numa_node = numa[i];
	}
	UNIT_INT(inventory_update(&inventory, &snapshot, 0, ignore_event, NULL, NULL), 0);
	return inventory;
}

struct question {
	const struct inventory *inventory;
	enum prefer_policy policy;
	const V1beta1__PreferredAllocationRequest *request;
};

static int prefer_starved(void *user)
{
	const struct question *question = user;
	V1beta1__PreferredAllocationResponse *response = NULL;
	int rc = prefer(question->inventory, INVENTORY_DISPLAY, question->policy, question->request,
			&response, NULL);
	v1beta1__preferred_allocation_response__free_unpacked(response, NULL);
	return rc;
}

static int ask(const struct inventory *inventory, enum prefer_policy policy, const char *available,
	       const char *must, int32_t size, struct text *out, struct error *err)
{
	struct text_list free_ids CLEANUP_TEXT_LIST = {0};
	struct text_list must_ids CLEANUP_TEXT_LIST = {0};
	V1beta1__ContainerPreferredAllocationRequest container =
		V1BETA1__CONTAINER_PREFERRED_ALLOCATION_REQUEST__INIT;
	V1beta1__ContainerPreferredAllocationRequest *containers[] = {&container};
	V1beta1__PreferredAllocationRequest request = V1BETA1__PREFERRED_ALLOCATION_REQUEST__INIT;
	V1beta1__PreferredAllocationResponse *response = NULL;
	int rc = 0;
	if (available[0] != '\0')
		text_list_split(&free_ids, available, ' ');
	if (must[0] != '\0')
		text_list_split(&must_ids, must, ' ');
	container.n_available_deviceids = free_ids.count;
	container.available_deviceids = free_ids.items;
	container.n_must_include_deviceids = must_ids.count;
	container.must_include_deviceids = must_ids.items;
	container.allocation_size = size;
	request.n_container_requests = 1;
	request.container_requests = containers;
	rc = prefer(inventory, INVENTORY_DISPLAY, policy, &request, &response, err);
	if (rc == 0 && free_ids.count < 100)
		starved_each(prefer_starved, &(struct question){inventory, policy, &request});
	for (size_t i = 0; rc == 0 && i < response->container_responses[0]->n_deviceids; i++)
		text_addf(out, "%s%s", i == 0 ? "" : " ",
			  response->container_responses[0]->deviceids[i]);
	v1beta1__preferred_allocation_response__free_unpacked(response, NULL);
	return rc;
}

static void expect(const struct inventory *inventory, enum prefer_policy policy,
		   const char *available, const char *must, int32_t size, const char *wanted)
{
	struct text seen CLEANUP_TEXT = {0};
	struct error err = {0};
	UNIT_INT(ask(inventory, policy, available, must, size, &seen, &err), 0);
	UNIT_STRING(err.text, "");
	UNIT_STRING(text_string(&seen), wanted);
}

static void expect_error(const struct inventory *inventory, const char *available, const char *must,
			 int32_t size, int code, const char *wanted)
{
	struct text seen CLEANUP_TEXT = {0};
	struct error err = {0};
	UNIT_INT(ask(inventory, PREFER_SPREAD, available, must, size, &seen, &err), code);
	UNIT_STRING(err.text, wanted);
}

static void test_spread_uses_distinct_devices(void)
{
	const int numa[] = {-1, -1, -1};
	struct inventory inventory CLEANUP(inventory_free) = node_of(numa, 3);
	expect(&inventory, PREFER_SPREAD, "a::0 a::1 a::2 b::0 b::1 c::0", "", 3, "a::0 b::0 c::0");
	expect(&inventory, PREFER_SPREAD, "c::0 b::1 b::0 a::2 a::1 a::0", "", 3, "a::0 b::0 c::0");
	/* The device with most replicas left has fewest containers. */
	expect(&inventory, PREFER_SPREAD, "a::3 b::1 b::2 b::3 c::2 c::3", "", 1, "b::1");
	expect(&inventory, PREFER_SPREAD, "a::0 a::1 b::0", "a::0", 2, "a::0 b::0");
	expect(&inventory, PREFER_SPREAD, "a::0 a::1 b::0", "", 3, "a::0 a::1 b::0");
}

static void test_pack_fills_devices(void)
{
	const int numa[] = {-1, -1, -1};
	struct inventory inventory CLEANUP(inventory_free) = node_of(numa, 3);
	expect(&inventory, PREFER_PACK, "a::0 a::1 a::2 a::3 b::2 b::3 c::3", "", 2, "b::2 b::3");
	expect(&inventory, PREFER_PACK, "a::0 a::1 b::2 b::3 c::3", "a::0", 2, "a::0 a::1");
	expect(&inventory, PREFER_PACK, "a::0 a::1 a::2 b::2 b::3 c::3", "", 4,
	       "a::0 a::1 a::2 c::3");
}

static void test_numa_comes_first(void)
{
	const int numa[] = {0, 1, 1, -1};
	struct inventory inventory CLEANUP(inventory_free) = node_of(numa, 4);
	expect(&inventory, PREFER_SPREAD, "a::0 a::1 b::0 c::0 d::0", "", 2, "b::0 c::0");
	expect(&inventory, PREFER_SPREAD, "a::0 a::1 b::0 c::0", "a::0", 2, "a::0 a::1");
	expect(&inventory, PREFER_PACK, "a::0 a::1 b::0 b::1 c::0", "", 2, "a::0 a::1");
	expect(&inventory, PREFER_SPREAD, "a::0 b::0 c::0 d::0", "", 3, "a::0 b::0 c::0");
}

static void test_windows_takes_one_device(void)
{
	const int numa[] = {-1, -1, -1};
	struct inventory inventory CLEANUP(inventory_free) = node_of(numa, 3);
	inventory.windows = true;
	expect(&inventory, PREFER_SPREAD, "a::0 b::0 b::1 c::1 c::2 c::3", "", 2, "c::1 c::2");
	expect(&inventory, PREFER_PACK, "a::0 b::0 b::1 c::1 c::2 c::3", "", 2, "b::0 b::1");
	expect(&inventory, PREFER_SPREAD, "a::0 a::1 b::0 c::1 c::2", "a::0", 2, "a::0 a::1");
	/* Where no device has enough, it is as elsewhere. */
	expect(&inventory, PREFER_SPREAD, "a::0 b::0 c::0", "", 2, "a::0 b::0");
	expect(&inventory, PREFER_SPREAD, "a::0 b::0 b::1", "a::0", 2, "a::0 b::0");
	expect(&inventory, PREFER_SPREAD, "a::0 a::1 b::0 c::0 c::1", "a::0 b::0", 3,
	       "a::0 b::0 c::0");
	expect(&inventory, PREFER_SPREAD, "", "", 0, "");
}

static void test_odd_requests(void)
{
	const int numa[] = {-1, -1};
	struct inventory inventory CLEANUP(inventory_free) = node_of(numa, 2);
	expect(&inventory, PREFER_SPREAD, "", "", 0, "");
	expect(&inventory, PREFER_SPREAD, "", "", 3, "");
	expect(&inventory, PREFER_SPREAD, "a::0 a::0 b::1", "", 7, "a::0 b::1");
	expect(&inventory, PREFER_SPREAD, "zzz::0 nonsense a::9 a::1", "", 2, "a::1");
	expect(&inventory, PREFER_SPREAD, "a::0", "b::3", 2, "a::0 b::3");
	expect_error(&inventory, "a::0", "", -1, ERROR_ARGUMENT,
		     "allocation size -1 is too small for 0 ids that must be included");
	expect_error(&inventory, "a::0", "a::0 b::0", 1, ERROR_ARGUMENT,
		     "allocation size 1 is too small for 2 ids that must be included");
	expect_error(&inventory, "a::0", "z::0", 1, ERROR_NOT_FOUND,
		     "must be included: device id \"z::0\" names no device of this node");
}

static void test_unhealthy_devices_are_passed_over(void)
{
	const int numa[] = {-1, -1};
	struct inventory inventory CLEANUP(inventory_free) = node_of(numa, 2);
	inventory.devices[0].healthy = false;
	expect(&inventory, PREFER_SPREAD, "a::0 a::1 b::0 b::1", "", 2, "b::0 b::1");
	expect(&inventory, PREFER_SPREAD, "a::0 a::1 b::0 b::1", "a::0", 2, "a::0 b::0");
}

/* All of 1,000 ids, once as 1,000 devices and once as 1,000 replicas of one. */
static void expect_whole(size_t device_count, uint32_t replicas)
{
	static struct discovery_device devices[1000];
	static char names[1000][24];
	struct inventory inventory CLEANUP(inventory_free) = {.replicas = replicas};
	struct discovery_snapshot snapshot = sample_snapshot(devices, device_count);
	struct text ids CLEANUP_TEXT = {0};
	struct text seen CLEANUP_TEXT = {0};
	for (size_t i = 0; i < device_count; i++) {
		(void)snprintf(names[i], sizeof(names[i]), "g%03zu", i);
		devices[i] = sample_device(names[i]);
		devices[i].numa_node = (int32_t)(i % 8);
		for (uint32_t replica = 0; replica < replicas; replica++)
			text_addf(&ids, "%s%s::%u", ids.size > 0 ? " " : "", names[i], replica);
	}
	UNIT_INT(inventory_update(&inventory, &snapshot, 0, ignore_event, NULL, NULL), 0);
	UNIT_INT(ask(&inventory, PREFER_SPREAD, text_string(&ids), "", 1000, &seen, NULL), 0);
	UNIT_STRING(text_string(&seen), text_string(&ids));
}

static void test_a_thousand_ids(void)
{
	expect_whole(1000, 1);
	expect_whole(1, 1000);
}

UNIT_MAIN("prefer", {"spread uses distinct devices", test_spread_uses_distinct_devices},
	  {"pack fills devices", test_pack_fills_devices},
	  {"NUMA comes first", test_numa_comes_first},
	  {"Windows takes one device", test_windows_takes_one_device},
	  {"odd requests", test_odd_requests},
	  {"unhealthy devices are passed over", test_unhealthy_devices_are_passed_over},
	  {"a thousand ids", test_a_thousand_ids})
