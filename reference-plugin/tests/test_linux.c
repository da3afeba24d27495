/* SPDX-License-Identifier: MIT */
/* What only a Linux node has: software drivers, watched directories that can be removed, open files
 * that can be counted. */
#include "base/cleanup.h"
#include "base/file.h"
#include "base/path.h"
#include "reference-plugin/serving/directory_watch.h"
#include "reference-plugin/tests/plugin_rig.h"
#include "rpc/loop.h"

#include <signal.h>
#include <string.h>
#include <unistd.h>

static void test_directory_is_made_anew(void)
{
	struct rig rig;
	struct listing listing;
	rig_begin(&rig, "a", "--resource", "display");
	registrar_close(&rig.registrar);
	UNIT_INT(file_remove_tree(rig.directory, NULL), 0);
	UNIT_INT(file_make_directories(rig.directory, 0750, NULL), 0);
	rig_write_node(&rig, "a");
	rig_kubelet(&rig);
	rig_await_registrations(&rig, DISPLAY, 2);
	listing_open(&rig, DISPLAY, &listing);
	listing_await(&rig, &listing, "a::0");
	listing_close(&listing);
	rig_end(&rig);
}

static void test_cdi_devices(void)
{
	struct rig rig;
	struct text answer CLEANUP_TEXT = {0};
	rig_begin(&rig, "a b", "--delivery", "cdi");
	UNIT_INT(rig_allocate(&rig, DISPLAY, "b::0", &answer), RPC_OK);
	UNIT_STRING(text_string(&answer), "gpucert.internal/gpu=b;");
	rig_end(&rig);
}

static size_t open_files(const struct rig *rig)
{
	char *path CLEANUP_FREE = text_format("/proc/%d/fd", process_id(rig->process));
	struct text_list names CLEANUP_TEXT_LIST = {0};
	UNIT_INT(file_list(path, &names, NULL), 0);
	return names.count;
}

static void test_restarts_leave_no_files_open(void)
{
	enum { RESTARTS = 4 };
	struct rig rig;
	size_t before = 0;
	rig_begin(&rig, "a", "--resource", "display");
	for (size_t i = 1; i <= RESTARTS; i++) {
		struct listing listing;
		listing_open(&rig, DISPLAY, &listing);
		listing_await(&rig, &listing, "a::0");
		before = i == 1 ? open_files(&rig) : before;
		UNIT_INT(open_files(&rig), before);
		registrar_close(&rig.registrar);
		registrar_remove_sockets(&rig.registrar);
		rig_kubelet(&rig);
		rig_await_registrations(&rig, DISPLAY, i + 1);
		listing_close(&listing);
	}
	rig_end(&rig);
}

static bool has_tried(void *user)
{
	const struct rig *rig = user;
	return strstr(text_string(&rig->log), "registration failed") != NULL;
}

/* A kubelet that is found by trying again, before the directory is seen to have changed, is the one
 * that is registered with, and no new one: it is told once. The directory of its socket is there
 * only after the start, so it is not watched but looked at every five seconds. */
static void test_kubelet_that_comes_late_is_told_once(void)
{
	struct rig rig;
	char *elsewhere CLEANUP_FREE = NULL;
	char *late CLEANUP_FREE = NULL;
	char *socket CLEANUP_FREE = NULL;
	rig_open(&rig);
	UNIT_INT(file_make_temporary("/tmp", "gpucert-plugin-", &elsewhere, NULL), 0);
	late = path_join(elsewhere, "late");
	socket = path_join(late, "kubelet.sock");
	rig_kubelet(&rig);
	rig_start_with_node(&rig, "a/c", "--kubelet-socket", socket);
	(void)rig_until(&rig, has_tried, &rig, "the first attempt fails");
	UNIT_INT(symlink(rig.directory, late), 0);
	rig_await_registrations(&rig, COMPUTE, 1);
	loop_run_for(&rig.loop, DIRECTORY_WATCH_POLL_MS + 1500);
	UNIT_INT(registrar_accepted(&rig.registrar, COMPUTE), 1);
	UNIT_INT(rig_stop(&rig, SIGTERM), 0);
	(void)file_remove_tree(elsewhere, NULL);
	rig_close(&rig);
}

/* A real driver's manifest in a directory of its own. */
static void test_software_driver_comes_and_goes(void)
{
	static const char installed[] = "/usr/share/vulkan/icd.d/lvp_icd.x86_64.json";
	struct rig rig;
	struct listing listing;
	char *manifest CLEANUP_FREE = NULL;
	char *drivers CLEANUP_FREE = NULL;
	char *content CLEANUP_FREE = NULL;
	struct text answer CLEANUP_TEXT = {0};
	size_t size = 0;
	if (file_read(installed, 65536, &content, &size, NULL) < 0) {
		(void)printf("lavapipe is not installed, not tested: ");
		return;
	}
	rig_open(&rig);
	drivers = path_join(rig.directory, "icd.d");
	manifest = path_join(drivers, "lvp_icd.json");
	UNIT_INT(file_make_directories(drivers, 0755, NULL), 0);
	UNIT_INT(file_write_atomic(manifest, content, size, 0644, NULL), 0);
	rig_kubelet(&rig);
	{
		const char *const arguments[] = {"--resource",
						 "display",
						 "--vulkan-icd-dir",
						 drivers,
						 "--sysfs",
						 rig.directory,
						 "--egl-vendor-dir",
						 drivers,
						 "--removal-grace",
						 "3s",
						 NULL};
		rig_start(&rig, arguments);
	}
	rig_await_registrations(&rig, DISPLAY, 1);
	listing_open(&rig, DISPLAY, &listing);
	listing_await(&rig, &listing, "lavapipe::0");
	UNIT_INT(rig_allocate(&rig, DISPLAY, "lavapipe::0", &answer), RPC_OK);
	UNIT_CONTAINS(text_string(&answer), "libvulkan_lvp.so;");
	UNIT_INT(file_remove_tree(manifest, NULL), 0);
	listing_await(&rig, &listing, "lavapipe::0!");
	listing_await(&rig, &listing, "");
	UNIT_INT(file_write_atomic(manifest, content, size, 0644, NULL), 0);
	listing_await(&rig, &listing, "lavapipe::0");
	listing_close(&listing);
	rig_end(&rig);
}

UNIT_MAIN("Linux", {"the directory is made anew", test_directory_is_made_anew},
	  {"devices by CDI", test_cdi_devices},
	  {"restarts leave no files open", test_restarts_leave_no_files_open},
	  {"a kubelet that comes late is told once", test_kubelet_that_comes_late_is_told_once},
	  {"a software driver comes and goes", test_software_driver_comes_and_goes})
