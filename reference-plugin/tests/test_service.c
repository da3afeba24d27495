/* SPDX-License-Identifier: MIT */
/* The DevicePlugin service, and what it says of devices that come and go. */
#include "base/cleanup.h"
#include "base/file.h"
#include "base/path.h"
#include "reference-plugin/tests/plugin_rig.h"
#include "rpc/loop.h"

static void expect(struct rig *rig, const char *ids, int code, const char *wanted)
{
	struct text answer CLEANUP_TEXT = {0};
	UNIT_INT(rig_allocate(rig, DISPLAY, ids, &answer), code);
	UNIT_STRING(text_string(&answer), wanted);
}

#define ALLOCATE "/v1beta1.DevicePlugin/Allocate: "

static void test_allocate(void)
{
	struct rig rig;
	rig_begin(&rig, "a b sick! c/c", "--multitenancy", "2");
	/* No list was asked for before. */
	expect(&rig, "a::0", RPC_OK, "/dev/a;");
	expect(&rig, "b::0 a::1 a::0", RPC_OK, "/dev/a;/dev/b;");
	expect(&rig, "a::0", RPC_OK, "/dev/a;");
	expect(&rig, "x\n::0", RPC_NOT_FOUND,
	       ALLOCATE "NOT_FOUND: device id \"x\\n::0\" names no device of this node");
	expect(&rig, "a::2", RPC_NOT_FOUND,
	       ALLOCATE "NOT_FOUND: device id \"a::2\": replicas of this device are 0 to 1");
	expect(&rig, "a", RPC_INVALID_ARGUMENT,
	       ALLOCATE "INVALID_ARGUMENT: device id \"a\" is not of the form "
			"<device>::<replica>");
	expect(&rig, "a::0 b::0 a::0", RPC_INVALID_ARGUMENT,
	       ALLOCATE "INVALID_ARGUMENT: device id \"a::0\" is asked for twice");
	expect(&rig, "sick::0", RPC_UNAVAILABLE,
	       ALLOCATE "UNAVAILABLE: device id \"sick::0\" is unhealthy: driver is unbound");
	expect(&rig, "c::0", RPC_NOT_FOUND,
	       ALLOCATE "NOT_FOUND: device id \"c::0\" belongs to the compute resource, not to the "
			"display resource");
	rig_end(&rig);
}

static void test_other_methods(void)
{
	struct rig rig;
	V1beta1__PreStartContainerRequest pre_start = V1BETA1__PRE_START_CONTAINER_REQUEST__INIT;
	V1beta1__PreferredAllocationRequest preferred = V1BETA1__PREFERRED_ALLOCATION_REQUEST__INIT;
	V1beta1__ContainerPreferredAllocationRequest container =
		V1BETA1__CONTAINER_PREFERRED_ALLOCATION_REQUEST__INIT;
	V1beta1__ContainerPreferredAllocationRequest *containers[] = {&container};
	struct text_list available CLEANUP_TEXT_LIST = {0};
	ProtobufCMessage *reply = NULL;
	const V1beta1__PreferredAllocationResponse *response = NULL;
	rig_begin(&rig, "a b", "--multitenancy", "2");
	UNIT_INT(rig_call(&rig, DISPLAY, "/v1beta1.DevicePlugin/PreStartContainer", &pre_start.base,
			  &v1beta1__pre_start_container_response__descriptor, &reply, NULL),
		 RPC_UNIMPLEMENTED);
	text_list_split(&available, "a::0 a::1 b::0", ' ');
	container.n_available_deviceids = available.count;
	container.available_deviceids = available.items;
	container.allocation_size = 2;
	preferred.n_container_requests = 1;
	preferred.container_requests = containers;
	UNIT_INT(rig_call(&rig, DISPLAY, "/v1beta1.DevicePlugin/GetPreferredAllocation",
			  &preferred.base, &v1beta1__preferred_allocation_response__descriptor,
			  &reply, NULL),
		 RPC_OK);
	response = (const V1beta1__PreferredAllocationResponse *)reply;
	CU_ASSERT_EQUAL_FATAL(response->container_responses[0]->n_deviceids, 2);
	UNIT_STRING(response->container_responses[0]->deviceids[0], "a::0");
	UNIT_STRING(response->container_responses[0]->deviceids[1], "b::0");
	protobuf_c_message_free_unpacked(reply, NULL);
	rig_end(&rig);
}

static void test_devices_come_and_go(void)
{
	struct rig rig;
	struct listing first;
	struct listing second;
	struct text answer CLEANUP_TEXT = {0};
	rig_begin(&rig, "a b", "--removal-grace", "3s");
	listing_open(&rig, DISPLAY, &first);
	listing_await(&rig, &first, "a::0 b::0");
	rig_write_node(&rig, "b");
	listing_await(&rig, &first, "a::0! b::0");
	UNIT_INT(rig_allocate(&rig, DISPLAY, "a::0", &answer), RPC_UNAVAILABLE);
	UNIT_CONTAINS(text_string(&answer), "\"a::0\" is unhealthy: the device is gone");
	listing_open(&rig, DISPLAY, &second);
	listing_await(&rig, &first, "b::0");
	listing_await(&rig, &second, "b::0");
	rig_write_node(&rig, "a! b");
	listing_await(&rig, &first, "a::0! b::0");
	rig_write_node(&rig, "a b");
	listing_await(&rig, &first, "a::0 b::0");
	listing_await(&rig, &second, "a::0 b::0");
	/* Each state was told once. */
	UNIT_INT(first.messages, 5);
	loop_run_for(&rig.loop, 400);
	UNIT_INT(first.messages, 5);
	CU_ASSERT_FALSE(first.ended);
	listing_close(&first);
	listing_close(&second);
	rig_end(&rig);
}

static void test_unreadable_node_keeps_devices(void)
{
	struct text broken CLEANUP_TEXT = {0};
	struct rig rig;
	struct listing listing;
	rig_begin(&rig, "a", "--removal-grace", "0");
	listing_open(&rig, DISPLAY, &listing);
	listing_await(&rig, &listing, "a::0");
	text_add(&broken, "{");
	rig_write_text(&rig, &broken);
	rig_await_log(&rig, "cannot look for devices");
	UNIT_INT(listing.messages, 1);
	rig_write_node(&rig, "a b");
	listing_await(&rig, &listing, "a::0 b::0");
	listing_close(&listing);
	rig_end(&rig);
}

static void test_empty_resource_waits_for_devices(void)
{
	struct rig rig;
	struct listing listing;
	rig_begin(&rig, "", NULL, NULL);
	listing_open(&rig, COMPUTE, &listing);
	listing_await(&rig, &listing, "");
	rig_write_node(&rig, "c/c");
	listing_await(&rig, &listing, "c::0");
	listing_close(&listing);
	rig_end(&rig);
}

struct lists_wanted {
	const struct listing *listing;
	size_t messages;
};

static bool has_messages(void *user)
{
	const struct lists_wanted *wanted = user;
	return wanted->listing->messages >= wanted->messages;
}

static void test_slow_reader_gets_the_newest_list(void)
{
	enum { CHANGES = 9 };
	struct rig rig;
	struct listing slow;
	struct listing quick;
	char *newest CLEANUP_FREE = NULL;
	rig_begin(&rig, "a b", "--multitenancy", "5000");
	listing_open(&rig, DISPLAY, &slow);
	rpc_call_pause(slow.call);
	listing_open(&rig, DISPLAY, &quick);
	for (size_t i = 0; i <= CHANGES; i++) {
		struct lists_wanted wanted = {&quick, i + 1};
		if (i > 0)
			rig_write_node(&rig, i % 2 != 0 ? "a! b" : "a b");
		(void)rig_until(&rig, has_messages, &wanted, "a list");
	}
	UNIT_INT(slow.messages, 0);
	rpc_call_resume(slow.call);
	newest = strdup(text_string(&quick.devices));
	listing_await(&rig, &slow, newest);
	/* The list that waited for the window, and the newest. */
	UNIT_INT(slow.messages, 2);
	listing_close(&slow);
	listing_close(&quick);
	rig_end(&rig);
}

static void test_streams_are_freed(void)
{
	struct rig rig;
	struct listing last;
	rig_begin(&rig, "a", NULL, NULL);
	for (int i = 0; i < 50; i++) {
		struct listing listing;
		listing_open(&rig, DISPLAY, &listing);
		listing_await(&rig, &listing, "a::0");
		rpc_call_cancel(listing.call);
		UNIT_INT(listing.code, RPC_CANCELLED);
		listing_close(&listing);
	}
	listing_open(&rig, DISPLAY, &last);
	listing_await(&rig, &last, "a::0");
	rig_write_node(&rig, "a!");
	listing_await(&rig, &last, "a::0!");
	listing_close(&last);
	rig_end(&rig);
}

UNIT_MAIN("service", {"Allocate", test_allocate}, {"other methods", test_other_methods},
	  {"devices come and go", test_devices_come_and_go},
	  {"an unreadable node keeps its devices", test_unreadable_node_keeps_devices},
	  {"an empty resource waits for devices", test_empty_resource_waits_for_devices},
	  {"a slow reader gets the newest list", test_slow_reader_gets_the_newest_list},
	  {"streams are freed", test_streams_are_freed})
