/* SPDX-License-Identifier: MIT */
/* Resident memory of the plugin: its size, and that calls leave nothing behind. */
#include "base/cleanup.h"
#include "base/file.h"
#include "base/path.h"
#include "reference-plugin/tests/plugin_rig.h"

#include <stdlib.h>

enum {
	WARM_UP_CALLS = 2000,
	CALLS = 20000,
	GROWTH_MAX_KIB = 64,
	FOUR_DEVICES_MAX_KIB = 6 * 1024,
	THOUSAND_IDS_MAX_KIB = 12 * 1024,
	SKIPPED = 77,
};

static long resident_kib(const struct rig *rig)
{
	char *path CLEANUP_FREE = text_format("/proc/%d/status", process_id(rig->process));
	char *status CLEANUP_FREE = NULL;
	const char *line = NULL;
	UNIT_INT(file_read(path, 65536, &status, NULL, NULL), 0);
	line = status != NULL ? strstr(status, "VmRSS:") : NULL;
	return line != NULL ? strtol(line + strlen("VmRSS:"), NULL, 10) : -1;
}

/* Allocate calls one after the other on one connection, as the kubelet makes them. */
static void allocate_often(struct rig *rig, struct rpc_channel *channel, int calls)
{
	char id[] = "a::0";
	char *ids[] = {id};
	V1beta1__ContainerAllocateRequest container = V1BETA1__CONTAINER_ALLOCATE_REQUEST__INIT;
	V1beta1__ContainerAllocateRequest *containers[] = {&container};
	V1beta1__AllocateRequest request = V1BETA1__ALLOCATE_REQUEST__INIT;
	int failures = 0;
	(void)rig;
	container.n_devices_ids = 1;
	container.devices_ids = ids;
	request.n_container_requests = 1;
	request.container_requests = containers;
	for (int i = 0; i < calls; i++) {
		id[0] = i % 10 == 9 ? 'x' : 'a'; /* every tenth is refused */
		failures += rpc_unary_wait(channel, "/v1beta1.DevicePlugin/Allocate", &request.base,
					   &v1beta1__allocate_response__descriptor, RIG_TIMEOUT_MS,
					   NULL, NULL) < 0;
	}
	UNIT_INT(failures, calls / 10);
}

static void test_size_and_growth(void)
{
	struct rig rig;
	struct listing listing;
	struct rpc_channel *channel = NULL;
	long before = 0;
	long after = 0;
	rig_open(&rig);
	rig_kubelet(&rig);
	rig_start_with_node(&rig, "a b c d", NULL, NULL);
	rig_await_registrations(&rig, DISPLAY, 1);
	listing_open(&rig, DISPLAY, &listing);
	listing_await(&rig, &listing, "a::0 b::0 c::0 d::0");
	channel = rig_dial(&rig, DISPLAY);
	allocate_often(&rig, channel, WARM_UP_CALLS);
	before = resident_kib(&rig);
	CU_ASSERT_TRUE(before > 0 && before <= FOUR_DEVICES_MAX_KIB);
	allocate_often(&rig, channel, CALLS);
	after = resident_kib(&rig);
	(void)printf("%ld KiB with four devices, %ld KiB after %d calls: ", before, after,
		     (int)CALLS);
	CU_ASSERT_TRUE(after - before <= GROWTH_MAX_KIB);
	rpc_channel_close(channel);
	listing_close(&listing);
	rig_end(&rig);
}

static bool has_list(void *user)
{
	const struct listing *listing = user;
	return listing->messages > 0;
}

static void test_thousand_ids(void)
{
	struct rig rig;
	struct listing listing;
	long resident = 0;
	rig_open(&rig);
	rig_kubelet(&rig);
	rig_start_with_node(&rig, "a b c d", "--multitenancy", "250");
	rig_await_registrations(&rig, DISPLAY, 1);
	listing_open(&rig, DISPLAY, &listing);
	(void)rig_until(&rig, has_list, &listing, "the list");
	resident = resident_kib(&rig);
	(void)printf("%ld KiB with a thousand ids: ", resident);
	CU_ASSERT_TRUE(resident > 0 && resident <= THOUSAND_IDS_MAX_KIB);
	listing_close(&listing);
	rig_end(&rig);
}

int main(void)
{
	CU_TestInfo tests[] = {
		{"size and growth", test_size_and_growth},
		{"a thousand ids", test_thousand_ids},
		CU_TEST_INFO_NULL,
	};
	/* A sanitizer's shadow memory is not the plugin's. */
	return UNIT_SANITIZED ? SKIPPED : unit_run("memory", tests);
}
