/* SPDX-License-Identifier: MIT */
/* Starting over: when the kubelet, the sockets, the directory or the plugin went away. */
#include "base/cleanup.h"
#include "base/file.h"
#include "base/path.h"
#include "reference-plugin/tests/plugin_rig.h"

#include <signal.h>
#include <string.h>

static void test_kubelet_restart(void)
{
	struct rig rig;
	struct listing listing;
	char *before CLEANUP_FREE = NULL;
	char *after CLEANUP_FREE = NULL;
	rig_begin(&rig, "a", "--resource", "display");
	before = rig_endpoint_path(&rig, DISPLAY);
	registrar_close(&rig.registrar);
	registrar_remove_sockets(&rig.registrar);
	rig_kubelet(&rig);
	rig_await_registrations(&rig, DISPLAY, 2);
	after = rig_endpoint_path(&rig, DISPLAY);
	CU_ASSERT_STRING_NOT_EQUAL(before, after);
	listing_open(&rig, DISPLAY, &listing);
	listing_await(&rig, &listing, "a::0");
	listing_close(&listing);
	rig_end(&rig);
}

static void test_own_socket_is_removed(void)
{
	struct rig rig;
	struct listing listing;
	char *before CLEANUP_FREE = NULL;
	rig_begin(&rig, "a", NULL, NULL);
	listing_open(&rig, DISPLAY, &listing);
	listing_await(&rig, &listing, "a::0");
	before = rig_endpoint_path(&rig, DISPLAY);
	rig_remove_file(before);
	rig_await_registrations(&rig, DISPLAY, 2);
	/* The other resource has its socket and stays as it is. */
	UNIT_INT(registrar_accepted(&rig.registrar, COMPUTE), 1);
	CU_ASSERT_TRUE(listing.ended);
	listing_close(&listing);
	rig_end(&rig);
}

static void test_kubelet_socket_is_made_anew(void)
{
	struct rig rig;
	char *before CLEANUP_FREE = NULL;
	rig_begin(&rig, "a", "--resource", "display");
	before = rig_endpoint_path(&rig, DISPLAY);
	registrar_close(&rig.registrar);
	rig_kubelet(&rig);
	rig_await_registrations(&rig, DISPLAY, 2);
	CU_ASSERT_FALSE(file_exists(before));
	rig_end(&rig);
}

static void test_killed_plugin_returns(void)
{
	struct rig rig;
	char *before CLEANUP_FREE = NULL;
	struct listing listing;
	rig_begin(&rig, "a b", "--resource", "display");
	before = rig_endpoint_path(&rig, DISPLAY);
	UNIT_INT(rig_stop(&rig, SIGKILL), RIG_KILLED);
	CU_ASSERT_TRUE(file_exists(before));
	rig_start_with_node(&rig, "a b", "--resource", "display");
	rig_await_registrations(&rig, DISPLAY, 2);
	CU_ASSERT_FALSE(file_exists(before));
	listing_open(&rig, DISPLAY, &listing);
	listing_await(&rig, &listing, "a::0 b::0");
	listing_close(&listing);
	rig_end(&rig);
}

/* A kubelet that is still there and ends the stream, as up to 1.36 when another instance stops. */
static void test_stream_is_ended(void)
{
	struct rig rig;
	struct listing listing;
	char *before CLEANUP_FREE = NULL;
	char *after CLEANUP_FREE = NULL;
	rig_begin(&rig, "a", "--resource", "display");
	before = rig_endpoint_path(&rig, DISPLAY);
	listing_open(&rig, DISPLAY, &listing);
	listing_await(&rig, &listing, "a::0");
	listing_close(&listing);
	rig_await_registrations(&rig, DISPLAY, 2);
	after = rig_endpoint_path(&rig, DISPLAY);
	CU_ASSERT_STRING_EQUAL(before, after);
	/* Nobody watches: once more, later. */
	rig_await_registrations(&rig, DISPLAY, 3);
	listing_open(&rig, DISPLAY, &listing);
	listing_await(&rig, &listing, "a::0");
	loop_run_for(&rig.loop, 4500);
	UNIT_INT(rig.registrar.attempts, 3);
	listing_close(&listing);
	rig_end(&rig);
}

static void test_newest_instance_registers(void)
{
	struct rig rig;
	struct listing older;
	struct listing newer;
	struct process *first = NULL;
	char *before CLEANUP_FREE = NULL;
	char *after CLEANUP_FREE = NULL;
	rig_begin(&rig, "a", "--resource", "display");
	before = rig_endpoint_path(&rig, DISPLAY);
	listing_open(&rig, DISPLAY, &older);
	listing_await(&rig, &older, "a::0");
	first = STEAL(rig.process);
	rig_start_with_node(&rig, "a", "--resource", "display");
	rig_await_registrations(&rig, DISPLAY, 2);
	listing_open(&rig, DISPLAY, &newer);
	listing_await(&rig, &newer, "a::0");
	/* The older one gives way as long as the newer one serves. */
	listing_close(&older);
	loop_run_for(&rig.loop, 1500);
	UNIT_INT(rig.registrar.attempts, 2);
	listing_close(&newer);
	UNIT_INT(rig_stop(&rig, SIGTERM), 0);
	rig_await_registrations(&rig, DISPLAY, 3);
	after = rig_endpoint_path(&rig, DISPLAY);
	CU_ASSERT_STRING_EQUAL(before, after);
	process_free(first);
	rig_close(&rig);
}

/* Kubelets up to 1.36 keep the stream of the endpoint that registered before, and end the newer one. */
static void test_older_stream_does_not_count(void)
{
	struct rig rig;
	struct listing older;
	struct listing newer;
	struct process *first = NULL;
	rig_begin(&rig, "a", "--resource", "display");
	listing_open(&rig, DISPLAY, &older);
	listing_await(&rig, &older, "a::0");
	first = STEAL(rig.process);
	rig_start_with_node(&rig, "a", "--resource", "display");
	rig_await_registrations(&rig, DISPLAY, 2);
	/* With a stream, and a newer instance, it keeps quiet. */
	loop_run_for(&rig.loop, 1500);
	UNIT_INT(rig.registrar.attempts, 2);
	UNIT_INT(rig_stop(&rig, SIGTERM), 0);
	rig_await_registrations(&rig, DISPLAY, 3);
	listing_open(&rig, DISPLAY, &newer);
	listing_await(&rig, &newer, "a::0");
	listing_close(&newer);
	rig_await_registrations(&rig, DISPLAY, 4);
	CU_ASSERT_FALSE(older.ended);
	listing_close(&older);
	process_free(first);
	rig_close(&rig);
}

/* An older instance whose registration fails leaves the resource to the newer one, as long as that serves. */
static void test_older_instance_stops_trying(void)
{
	struct rig rig;
	struct process *first = NULL;
	rig_open(&rig);
	rig.registrar.mode = REGISTRAR_REFUSE;
	rig_kubelet(&rig);
	rig_start_with_node(&rig, "a", "--resource", "display");
	rig_await_log(&rig, "registration failed");
	first = STEAL(rig.process);
	rig_start_with_node(&rig, "a", "--resource", "display");
	rig_await_log(&rig, "serving on");
	rig.registrar.mode = REGISTRAR_ACCEPT;
	rig_await_registrations(&rig, DISPLAY, 1);
	size_t attempts = rig.registrar.attempts;
	loop_run_for(&rig.loop, 2500);
	UNIT_INT(rig.registrar.attempts, attempts);
	UNIT_INT(rig_stop(&rig, SIGTERM), 0);
	rig_await_registrations(&rig, DISPLAY, 2);
	process_free(first);
	rig_close(&rig);
}

/* The older one may have registered after the newer one, whose stream a kubelet up to 1.36 then keeps and does not
 * read. */
static void test_older_instance_ends(void)
{
	struct rig rig;
	struct listing listing;
	struct process *newer = NULL;
	struct process *older = NULL;
	rig_begin(&rig, "a", "--resource", "display");
	older = STEAL(rig.process);
	rig_start_with_node(&rig, "a", "--resource", "display");
	rig_await_registrations(&rig, DISPLAY, 2);
	listing_open(&rig, DISPLAY, &listing);
	listing_await(&rig, &listing, "a::0");
	newer = rig.process;
	rig.process = older;
	UNIT_INT(rig_stop(&rig, SIGTERM), 0);
	rig_await_registrations(&rig, DISPLAY, 3);
	CU_ASSERT_FALSE(listing.ended);
	listing_close(&listing);
	process_free(newer);
	rig_close(&rig);
}

/* A kubelet may end the connection before it has opened the stream. */
static void test_stream_never_comes(void)
{
	struct rig rig;
	struct listing listing;
	rig_begin(&rig, "a", "--resource", "display");
	rig_await_registrations(&rig, DISPLAY, 2);
	listing_open(&rig, DISPLAY, &listing);
	listing_await(&rig, &listing, "a::0");
	listing_close(&listing);
	rig_end(&rig);
}

static void test_directory_comes_late(void)
{
	struct rig rig;
	rig_open(&rig);
	rig_write_node(&rig, "a");
	UNIT_INT(file_remove_tree(rig.directory, NULL), 0);
	rig_start(&rig, (const char *const[]){"--resource", "display", NULL});
	rig_await_log(&rig, "waiting for the directory");
	UNIT_INT(file_make_directories(rig.directory, 0755, NULL), 0);
	rig_kubelet(&rig);
	rig_await_registrations(&rig, DISPLAY, 1);
	rig_end(&rig);
}

UNIT_MAIN("recovery", {"a stream is ended", test_stream_is_ended},
	  {"the newest instance registers", test_newest_instance_registers},
	  {"an older stream does not count", test_older_stream_does_not_count},
	  {"an older instance stops trying", test_older_instance_stops_trying},
	  {"an older instance ends", test_older_instance_ends},
	  {"the stream never comes", test_stream_never_comes},
	  {"the directory comes late", test_directory_comes_late},
	  {"kubelet restart", test_kubelet_restart},
	  {"own socket is removed", test_own_socket_is_removed},
	  {"kubelet's socket is made anew", test_kubelet_socket_is_made_anew},
	  {"a killed plugin returns", test_killed_plugin_returns})
