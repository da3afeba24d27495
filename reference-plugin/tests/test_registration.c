/* SPDX-License-Identifier: MIT */
/* Registering with the kubelet. */
#include "base/cleanup.h"
#include "base/file.h"
#include "base/path.h"
#include "reference-plugin/serving/instance.h"
#include "reference-plugin/tests/plugin_rig.h"
#include "rpc/loop.h"

#include <signal.h>
#include <sys/stat.h>
#include <unistd.h>

static void test_backoff(void)
{
	UNIT_INT(backoff_ms(1, 0), 500);
	UNIT_INT(backoff_ms(1, UINT32_MAX), 625);
	UNIT_INT(backoff_ms(2, 0), 1000);
	UNIT_INT(backoff_ms(6, 0), 16000);
	UNIT_INT(backoff_ms(7, 0), 30000);
	UNIT_INT(backoff_ms(4000000000U, UINT32_MAX), 37500);
}

static void test_both_resources_register(void)
{
	struct rig rig;
	char *path CLEANUP_FREE = NULL;
	rig_begin(&rig, "a b/c", NULL, NULL);
	for (size_t i = 0; i < rig.registrar.count; i++) {
		const struct registrar_entry *entry = &rig.registrar.entries[i];
		UNIT_STRING(entry->version, "v1beta1");
		CU_ASSERT_TRUE(entry->preferred_allocation);
		CU_ASSERT_FALSE(entry->pre_start);
		CU_ASSERT_TRUE(entry->options_agree);
		CU_ASSERT_TRUE(path_is_bare_name(entry->endpoint));
	}
	CU_ASSERT_STRING_NOT_EQUAL(rig.registrar.entries[0].endpoint,
				   rig.registrar.entries[1].endpoint);
	path = rig_endpoint_path(&rig, DISPLAY);
#ifndef _WIN32
	{
		struct stat status;
		UNIT_INT(stat(path, &status), 0);
		UNIT_INT(status.st_mode & 0777, 0600);
	}
#endif
	UNIT_INT(rig_stop(&rig, SIGTERM), 0);
	CU_ASSERT_FALSE(file_exists(path));
	rig_close(&rig);
}

static void test_one_resource_by_another_name(void)
{
	const char *const arguments[] = {"--resource", "compute", "--resource-name",
					 "example.com/gpu", NULL};
	struct rig rig;
	rig_open(&rig);
	rig_kubelet(&rig);
	rig_start(&rig, arguments);
	rig_await_registrations(&rig, "example.com/gpu", 1);
	UNIT_INT(rig_stop(&rig, SIGINT), 0);
	UNIT_INT(rig.registrar.attempts, 1);
	rig_close(&rig);
}

static void test_stop_ends_streams_with_trailers(void)
{
	struct rig rig;
	struct listing listing;
	rig_open(&rig);
	rig_kubelet(&rig);
	rig_start_with_node(&rig, "a", NULL, NULL);
	rig_await_registrations(&rig, DISPLAY, 1);
	listing_open(&rig, DISPLAY, &listing);
	listing_await(&rig, &listing, "a::0");
	UNIT_INT(rig_stop(&rig, SIGTERM), 0);
	CU_ASSERT_TRUE(listing.ended);
	UNIT_INT(listing.code, RPC_UNAVAILABLE);
	UNIT_STRING(listing.message, "the device plugin is stopping");
	listing_close(&listing);
	rig_close(&rig);
}

static void test_kubelet_comes_late(void)
{
	struct rig rig;
	char *kubelet CLEANUP_FREE = NULL;
	rig_open(&rig);
	kubelet = path_join(rig.directory, "kubelet.sock");
	/* What a kubelet that was killed may leave. */
	UNIT_INT(file_write_atomic(kubelet, "x", 1, 0644, NULL), 0);
	rig_start_with_node(&rig, "a", "--resource", "display");
	rig_await_log(&rig, "registration failed");
	CU_ASSERT_TRUE(file_exists(kubelet));
	rig_remove_file(kubelet);
	rig_kubelet(&rig);
	rig_await_registrations(&rig, DISPLAY, 1);
	rig_end(&rig);
}

static void test_refusal_is_no_busy_loop(void)
{
	struct rig rig;
	rig_open(&rig);
	rig.registrar.mode = REGISTRAR_REFUSE;
	rig_kubelet(&rig);
	rig_start_with_node(&rig, "a", "--resource", "display");
	rig_await_log(&rig, "requested API version is not supported");
	UNIT_INT(rig.registrar.attempts, 1);
	loop_run_for(&rig.loop, 1500);
	CU_ASSERT_TRUE(rig.registrar.attempts <= 3);
	rig.registrar.mode = REGISTRAR_ACCEPT;
	rig_await_registrations(&rig, DISPLAY, 1);
	rig_end(&rig);
}

static void test_silence_times_out(void)
{
	struct rig rig;
	rig_open(&rig);
	rig.registrar.mode = REGISTRAR_SILENT;
	rig_kubelet(&rig);
	{
		const char *const arguments[] = {"--resource", "display", "--register-timeout",
						 "3s", NULL};
		rig_start(&rig, arguments);
	}
	rig_await_log(&rig, "DEADLINE_EXCEEDED");
	UNIT_INT(rig.registrar.attempts, 1);
	rig.registrar.mode = REGISTRAR_ACCEPT;
	rig_await_registrations(&rig, DISPLAY, 1);
	rig_end(&rig);
}

/* A kubelet that lists the devices has registered them, whatever became of its answer. */
static void test_stream_is_an_answer(void)
{
	struct rig rig;
	struct listing listing;
	rig_open(&rig);
	rig.registrar.mode = REGISTRAR_LATE;
	rig_kubelet(&rig);
	rig_write_node(&rig, "a");
	const char *const arguments[] = {"--resource",	       "display", "--node", rig.node,
					 "--register-timeout", "3s",	  NULL};
	rig_start(&rig, arguments);
	rig_await_registrations(&rig, DISPLAY, 1);
	listing_open(&rig, DISPLAY, &listing);
	listing_await(&rig, &listing, "a::0");
	rig_await_log(&rig, "DEADLINE_EXCEEDED");
	rig_await_log(&rig, "the kubelet watches");
	loop_run_for(&rig.loop, 1500);
	UNIT_INT(rig.registrar.attempts, 1);
	listing_close(&listing);
	rig.registrar.mode = REGISTRAR_ACCEPT;
	rig_await_registrations(&rig, DISPLAY, 2);
	rig_end(&rig);
}

static void test_unchanged_instance_registers_once(void)
{
	struct rig rig;
	char *kubelet CLEANUP_FREE = NULL;
	rig_begin(&rig, "a", "--resource", "display");
	kubelet = path_join(rig.directory, "kubelet.sock");
	UNIT_INT(chmod(kubelet, 0660), 0);
	rig_write_node(&rig, "a b");
	loop_run_for(&rig.loop, 1300);
	UNIT_INT(rig.registrar.attempts, 1);
	rig_end(&rig);
}

static void test_two_instances_side_by_side(void)
{
	struct rig rig;
	struct listing listing;
	struct process *first = NULL;
	rig_begin(&rig, "a", "--resource", "display");
	listing_open(&rig, DISPLAY, &listing);
	listing_await(&rig, &listing, "a::0");
	first = STEAL(rig.process);
	rig_start_with_node(&rig, "a", "--resource", "display");
	rig_await_registrations(&rig, DISPLAY, 2);
	CU_ASSERT_FALSE(listing.ended);
	listing_close(&listing);
	UNIT_INT(rig_stop(&rig, SIGTERM), 0);
	process_free(first);
	rig_close(&rig);
}

UNIT_MAIN("registration", {"back-off", test_backoff},
	  {"both resources register", test_both_resources_register},
	  {"one resource by another name", test_one_resource_by_another_name},
	  {"stop ends streams with trailers", test_stop_ends_streams_with_trailers},
	  {"kubelet comes late", test_kubelet_comes_late},
	  {"refusal is no busy loop", test_refusal_is_no_busy_loop},
	  {"silence times out", test_silence_times_out},
	  {"a stream is an answer", test_stream_is_an_answer},
	  {"an unchanged instance registers once", test_unchanged_instance_registers_once},
	  {"two instances side by side", test_two_instances_side_by_side})
