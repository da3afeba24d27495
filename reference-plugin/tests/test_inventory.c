/* SPDX-License-Identifier: MIT */
#include "base/cleanup.h"
#include "base/tests/unit.h"
#include "base/text.h"
#include "reference-plugin/inventory/inventory.h"
#include "reference-plugin/tests/sample_node.h"
#include "rpc/proto/deviceplugin_v1beta1.pb-c.h"

#define CLEANUP_INVENTORY CLEANUP(inventory_free)

enum { GRACE_MS = 1000 };

static void log_event(const char *event, const struct inventory_device *device, void *user)
{
	text_addf(user, "%s %s;", device->id, event);
}

/* The events of one update, which must succeed. */
static void expect_events(struct inventory *inventory, const struct discovery_snapshot *snapshot,
			  uint64_t now_ms, const char *wanted)
{
	struct text events CLEANUP_TEXT = {0};
	struct error err = {0};
	int rc = inventory_update(inventory, snapshot, now_ms, log_event, &events, &err);
	UNIT_INT(rc, 0);
	UNIT_STRING(err.text, "");
	UNIT_STRING(text_string(&events), wanted);
}

static struct inventory new_inventory(uint32_t replicas)
{
	return (struct inventory){.replicas = replicas, .removal_grace_ms = GRACE_MS};
}

static void test_gone_device_is_unhealthy_then_removed(void)
{
	struct inventory inventory CLEANUP_INVENTORY = new_inventory(1);
	struct discovery_device devices[] = {sample_device("b"), sample_device("a")};
	struct discovery_snapshot both = sample_snapshot(devices, 2);
	struct discovery_snapshot one = sample_snapshot(devices, 1);
	expect_events(&inventory, &both, 0, "a appeared;b appeared;");
	expect_events(&inventory, &both, 10, "");
	UNIT_INT(inventory_next_removal_ms(&inventory, 10), UINT64_MAX);
	expect_events(&inventory, &one, 100, "a gone;");
	CU_ASSERT_FALSE(inventory.devices[0].healthy);
	UNIT_INT(inventory_next_removal_ms(&inventory, 100), GRACE_MS);
	expect_events(&inventory, &one, 600, "");
	UNIT_INT(inventory_next_removal_ms(&inventory, 600), GRACE_MS - 500);
	expect_events(&inventory, &one, 100 + GRACE_MS, "a removed;");
	UNIT_INT(inventory.device_count, 1);
	expect_events(&inventory, &both, 5000, "a appeared;");
	CU_ASSERT_TRUE(inventory.devices[0].healthy);
}

static void test_device_is_unhealthy_before_removal_without_grace(void)
{
	struct inventory inventory CLEANUP_INVENTORY = {.replicas = 1};
	struct discovery_device device = sample_device("a");
	struct discovery_snapshot one = sample_snapshot(&device, 1);
	struct discovery_snapshot none = sample_snapshot(NULL, 0);
	expect_events(&inventory, &one, 0, "a appeared;");
	expect_events(&inventory, &none, 0, "a gone;");
	expect_events(&inventory, &none, 0, "a removed;");
}

static void test_device_returns(void)
{
	struct inventory inventory CLEANUP_INVENTORY = new_inventory(1);
	struct discovery_device device = sample_device("a");
	struct discovery_snapshot one = sample_snapshot(&device, 1);
	struct discovery_snapshot none = sample_snapshot(NULL, 0);
	expect_events(&inventory, &one, 0, "a appeared;");
	expect_events(&inventory, &none, 1, "a gone;");
	expect_events(&inventory, &one, 2, "a returned;");
	CU_ASSERT_TRUE(inventory.devices[0].healthy);
	CU_ASSERT_PTR_EQUAL(inventory.devices[0].found, &device);
}

static void test_health_and_place_of_found_device(void)
{
	struct inventory inventory CLEANUP_INVENTORY = new_inventory(1);
	struct discovery_device device = sample_device("a");
	struct discovery_snapshot one = sample_snapshot(&device, 1);
	expect_events(&inventory, &one, 0, "a appeared;");
	device.health = DISCOVERY_UNHEALTHY;
	device.health_reason = "driver is unbound";
	expect_events(&inventory, &one, 1, "a unhealthy;");
	UNIT_STRING(inventory.devices[0].reason, "driver is unbound");
	device.health = DISCOVERY_HEALTHY;
	expect_events(&inventory, &one, 2, "a healthy again;");
	device.numa_node = 1;
	expect_events(&inventory, &one, 3, "a on another NUMA node;");
	device.display = false;
	device.compute = true;
	expect_events(&inventory, &one, 4, "a removed;a appeared;");
	UNIT_INT(inventory.devices[0].resource, INVENTORY_COMPUTE);
}

static void expect_withheld(const struct inventory *inventory,
			    const struct discovery_device *device, const char *why)
{
	const char *seen = inventory_withholds(inventory, device);
	UNIT_STRING(seen != NULL ? seen : "offered", why);
}

static void test_what_is_offered(void)
{
	const struct inventory on_linux = {0};
	const struct inventory plain = {.windows = true};
	const struct inventory wddm = {.windows = true, .display_computes = true};
	const struct inventory class = {.windows = true, .without_location_path = true};
	struct discovery_device device = sample_device("a");
	expect_withheld(&on_linux, &device, "offered");
	expect_withheld(&plain, &device, "it has no location path to assign it by");
	expect_withheld(&class, &device, "offered");
	device.location_path = "PCIROOT(0)#PCI(1B00)";
	expect_withheld(&plain, &device, "offered");
	device.allocatable = false;
	device.not_allocatable_reason = "it is a part of another machine";
	expect_withheld(&plain, &device, "it is a part of another machine");
	expect_withheld(&class, &device, "offered");
	device.allocatable = true;
	expect_withheld(&wddm, &device, "it renders and does not compute: it has no Direct3D 12");
	device.compute = true;
	expect_withheld(&wddm, &device, "offered");
	device.display = false;
	expect_withheld(&wddm, &device, "offered");
	device.compute = false;
	expect_withheld(&plain, &device, "it neither renders nor computes");
}

static void test_windows_device_that_cannot_be_assigned_any_more(void)
{
	struct inventory inventory CLEANUP_INVENTORY = new_inventory(1);
	struct discovery_device devices[] = {sample_device("a"), sample_device("b")};
	struct discovery_snapshot node = sample_snapshot(devices, 2);
	node.system.os = "windows";
	devices[0].location_path = devices[1].location_path = "PCIROOT(0)";
	devices[0].numa_node = 1;
	expect_events(&inventory, &node, 0, "a appeared;b appeared;");
	UNIT_INT(inventory.devices[0].numa_node, DISCOVERY_UNKNOWN);
	devices[1].location_path = "";
	expect_events(&inventory, &node, 1, "b gone;");
	devices[1].location_path = "PCIROOT(0)";
	expect_events(&inventory, &node, 2, "b returned;");
}

static void test_limits_keep_what_was_there(void)
{
	struct inventory inventory CLEANUP_INVENTORY = new_inventory(INVENTORY_IDS_MAX / 2 + 1);
	struct discovery_device devices[] = {sample_device("a"), sample_device("b")};
	struct discovery_snapshot one = sample_snapshot(devices, 1);
	struct discovery_snapshot two = sample_snapshot(devices, 2);
	struct text events CLEANUP_TEXT = {0};
	struct error err = {0};
	expect_events(&inventory, &one, 0, "a appeared;");
	UNIT_INT(inventory_update(&inventory, &two, 1, log_event, &events, &err), ERROR_LIMIT);
	UNIT_STRING(err.text, "2 devices with 16385 replicas each are more than 32768 device ids");
	UNIT_STRING(text_string(&events), "");
	UNIT_INT(inventory.device_count, 1);
}

static void expect_error(const struct inventory *inventory, const char *id, int code,
			 const char *text)
{
	struct error err = {0};
	size_t slot = 0;
	UNIT_INT(inventory_locate(inventory, INVENTORY_DISPLAY, id, &slot, &err), code);
	UNIT_STRING(err.text, text);
}

static void test_whole_id_is_validated(void)
{
	struct inventory inventory CLEANUP_INVENTORY = new_inventory(12);
	struct discovery_device devices[] = {sample_device("0000:03:00.0"),
					     sample_device("lavapipe"), sample_device("pocl")};
	struct discovery_snapshot node = sample_snapshot(devices, 3);
	size_t slot = 99;
	devices[2].display = false;
	devices[2].compute = true;
	expect_events(&inventory, &node, 0,
		      "0000:03:00.0 appeared;lavapipe appeared;pocl appeared;");
	UNIT_INT(inventory_locate(&inventory, INVENTORY_DISPLAY, "lavapipe::11", &slot, NULL), 0);
	UNIT_INT(slot / 12, 1);
	UNIT_INT(slot % 12, 11);
	expect_error(&inventory, "lavapipe::12", ERROR_NOT_FOUND,
		     "device id \"lavapipe::12\": replicas of this device are 0 to 11");
	expect_error(&inventory, "lavapip::0", ERROR_NOT_FOUND,
		     "device id \"lavapip::0\" names no device of this node");
	expect_error(&inventory, "lavapipe2::0", ERROR_NOT_FOUND,
		     "device id \"lavapipe2::0\" names no device of this node");
	expect_error(&inventory, "pocl::0", ERROR_NOT_FOUND,
		     "device id \"pocl::0\" belongs to the compute resource, not to the display "
		     "resource");
	expect_error(&inventory, "lavapipe", ERROR_ARGUMENT,
		     "device id \"lavapipe\" is not of the form <device>::<replica>");
	expect_error(&inventory, "", ERROR_ARGUMENT,
		     "device id \"\" is not of the form <device>::<replica>");
	expect_error(&inventory, "::0", ERROR_ARGUMENT,
		     "device id \"\\x3a:0\" is not of the form <device>::<replica>");
	expect_error(&inventory, "lavapipe::", ERROR_ARGUMENT,
		     "device id \"lavapipe::\" has no valid replica number");
	expect_error(&inventory, "lavapipe::01", ERROR_ARGUMENT,
		     "device id \"lavapipe::01\" has no valid replica number");
	expect_error(&inventory, "lavapipe::-1", ERROR_ARGUMENT,
		     "device id \"lavapipe::-1\" has no valid replica number");
	expect_error(&inventory, "lavapipe::99999999999", ERROR_ARGUMENT,
		     "device id \"lavapipe::99999999999\" has no valid replica number");
	expect_error(&inventory, "../\n\x1b[31m::0", ERROR_NOT_FOUND,
		     "device id \"../\\n\\x1b[31m::0\" names no device of this node");
}

static void test_long_id_is_cut_in_errors(void)
{
	char id[4096] = {0};
	struct error err = {0};
	memset(id, '\n', sizeof(id) - 1);
	UNIT_INT(replica_id_error(&err, ERROR_ARGUMENT, id, " is wrong"), ERROR_ARGUMENT);
	CU_ASSERT_TRUE(strlen(err.text) < 180);
	CU_ASSERT_TRUE(text_ends_with(err.text, "\\n...\" is wrong"));
}

static void test_device_list(void)
{
	struct inventory inventory CLEANUP_INVENTORY = new_inventory(2);
	struct discovery_device devices[] = {sample_device("gpu1"), sample_device("gpu0"),
					     sample_device("other")};
	struct discovery_snapshot node = sample_snapshot(devices, 3);
	uint8_t *data CLEANUP_FREE = NULL;
	size_t size = 0;
	V1beta1__ListAndWatchResponse *list = NULL;
	devices[0].numa_node = 1;
	devices[1].health = DISCOVERY_UNHEALTHY;
	devices[1].numa_node = 64;
	devices[2].display = false;
	devices[2].compute = true;
	expect_events(&inventory, &node, 0, "gpu0 appeared;gpu1 appeared;other appeared;");
	CU_ASSERT_EQUAL_FATAL(device_list_pack(&inventory, INVENTORY_DISPLAY, &data, &size, NULL),
			      0);
	list = v1beta1__list_and_watch_response__unpack(NULL, size, data);
	CU_ASSERT_PTR_NOT_NULL_FATAL(list);
	if (list == NULL)
		return;
	CU_ASSERT_EQUAL_FATAL(list->n_devices, 4);
	UNIT_STRING(list->devices[0]->id, "gpu0::0");
	UNIT_STRING(list->devices[1]->id, "gpu0::1");
	UNIT_STRING(list->devices[3]->id, "gpu1::1");
	UNIT_STRING(list->devices[1]->health, "Unhealthy");
	UNIT_STRING(list->devices[3]->health, "Healthy");
	CU_ASSERT_PTR_NULL(list->devices[0]->topology);
	UNIT_INT(list->devices[3]->topology->nodes[0]->id, 1);
	v1beta1__list_and_watch_response__free_unpacked(list, NULL);
}

static void test_longest_list_fits_a_message(void)
{
	enum { REPLICAS = INVENTORY_IDS_MAX / 8, MESSAGE_MAX = 4 * 1024 * 1024 };
	struct inventory inventory CLEANUP_INVENTORY = new_inventory(REPLICAS);
	char ids[8][56];
	struct discovery_device devices[8];
	struct discovery_snapshot node = sample_snapshot(devices, 8);
	struct text events CLEANUP_TEXT = {0};
	uint8_t *data CLEANUP_FREE = NULL;
	size_t size = 0;
	for (int i = 0; i < 8; i++) {
		(void)snprintf(ids[i], sizeof(ids[i]), "%d%054d", i, 0);
		devices[i] = sample_device(ids[i]);
		devices[i].numa_node = INVENTORY_NUMA_MAX;
	}
	UNIT_INT(inventory_update(&inventory, &node, 0, log_event, &events, NULL), 0);
	UNIT_INT(device_list_pack(&inventory, INVENTORY_DISPLAY, &data, &size, NULL), 0);
	CU_ASSERT_TRUE(size > INVENTORY_IDS_MAX * (size_t)55);
	CU_ASSERT_TRUE(size < MESSAGE_MAX * (size_t)3 / 4);
}

UNIT_MAIN("inventory",
	  {"a gone device is unhealthy, then removed", test_gone_device_is_unhealthy_then_removed},
	  {"without grace a device is unhealthy before it is removed",
	   test_device_is_unhealthy_before_removal_without_grace},
	  {"a device that returns is healthy again", test_device_returns},
	  {"health and place of a found device", test_health_and_place_of_found_device},
	  {"what is offered", test_what_is_offered},
	  {"a Windows device that cannot be assigned any more",
	   test_windows_device_that_cannot_be_assigned_any_more},
	  {"a limit keeps what was there", test_limits_keep_what_was_there},
	  {"the whole id is validated", test_whole_id_is_validated},
	  {"a long id is cut in errors", test_long_id_is_cut_in_errors},
	  {"device list", test_device_list},
	  {"the longest list fits a message", test_longest_list_fits_a_message})
