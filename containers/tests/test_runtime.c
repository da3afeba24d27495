/* SPDX-License-Identifier: MIT */
/* Private and attached runtimes, and what can be wrong with them. */
#include "base/cleanup.h"
#include "base/file.h"
#include "base/path.h"
#include "base/tests/unit.h"
#include "containers/runtime/remains.h"
#include "containers/runtime/runtime_internal.h"
#include "containers/tests/rig.h"
#include "rpc/loop.h"

#include <string.h>
#include <unistd.h>

#define DOUBLES GPUCERT_SOURCE_DIR "/containers/doubles/"

enum { NOBODY = 65534 };

static const char *base;
static const char *attached;

static void expect_no_start(const struct runtime_options *options, int code, const char *part)
{
	struct runtime *runtime = NULL;
	struct error err = {0};
	uv_loop_t loop = {0};
	CU_ASSERT_EQUAL_FATAL(uv_loop_init(&loop), 0);
	UNIT_INT(runtime_start(&loop, options, &runtime, &err), code);
	UNIT_CONTAINS(err.text, part);
	CU_ASSERT_PTR_NULL(runtime);
	CU_ASSERT_EQUAL(loop_drain(&loop, 10000, NULL), 0);
	CU_ASSERT_FALSE(file_exists(base));
}

static void test_runtimes_that_do_not_start(void)
{
	expect_no_start(&(struct runtime_options){.base_directory = base,
						  .containerd = "/nonexistent/containerd"},
			ERROR_NOT_FOUND, "/nonexistent/containerd");
	expect_no_start(
		&(struct runtime_options){.base_directory = base, .containerd = "/bin/false"},
		ERROR_IO, "/bin/false --version: exited with code 1");
	expect_no_start(
		&(struct runtime_options){.base_directory = base, .containerd = "/bin/echo"},
		ERROR_FORMAT, "not the version of a containerd");
	expect_no_start(&(struct runtime_options){.base_directory = base,
						  .containerd = DOUBLES "containerd-old"},
			ERROR_UNSUPPORTED, "containerd 1.5.18 is older than 1.6");
	expect_no_start(&(struct runtime_options){.base_directory = base,
						  .containerd = DOUBLES "containerd-dies"},
			ERROR_UNAVAILABLE,
			"exited with code 3: level=fatal msg=\"the disk is made of cheese\"");
	expect_no_start(&(struct runtime_options){.base_directory = base,
						  .containerd = DOUBLES "containerd-hangs",
						  .start_timeout_ms = 100},
			ERROR_TIMEOUT, "not ready");
}

static void test_base_directories_that_do_not_serve(void)
{
	CU_ASSERT_EQUAL_FATAL(seteuid(NOBODY), 0);
	expect_no_start(&(struct runtime_options){.base_directory = base}, ERROR_PERMISSION,
			"containers need root");
	CU_ASSERT_EQUAL_FATAL(seteuid(0), 0);
	expect_no_start(&(struct runtime_options){.base_directory = "run/x"}, ERROR_ARGUMENT,
			"run/x: base directory is not absolute");
	expect_no_start(&(struct runtime_options){.base_directory = "/run/a\"b"}, ERROR_ARGUMENT,
			"holds a quote");
	expect_no_start(&(struct runtime_options){.base_directory = "/proc/gpucert"},
			ERROR_NOT_FOUND, "/proc/gpucert");
	expect_no_start(
		&(struct runtime_options){
			.base_directory = "/run/a-name-that-is-much-longer-than-the-address-of-a-"
					  "socket-can-be-when-the-rest-is-added"},
		ERROR_LIMIT, "too long for a socket path");
}

static void test_the_native_snapshotter(void)
{
	const struct runtime_options options = {.base_directory = base, .snapshotter = "native"};
	struct runtime *runtime = NULL;
	struct images images = {0};
	struct error err = {0};
	uv_loop_t loop = {0};
	const struct runtime_description *description = NULL;
	CU_ASSERT_EQUAL_FATAL(uv_loop_init(&loop), 0);
	CU_ASSERT_EQUAL_FATAL(runtime_start(&loop, &options, &runtime, &err), 0);
	description = runtime_describe(runtime);
	UNIT_STRING(description->snapshotter, "native");
	UNIT_STRING(description->name, "containerd");
	UNIT_STRING(description->api_version, "v1");
	CU_ASSERT_TRUE(description->is_private);
	CU_ASSERT_EQUAL_FATAL(
		images_prepare(description->work_directory, rig_program_directory(), &images, &err),
		0);
	const char *const references[] = {images.probe.reference, IMAGES_PAUSE_REFERENCE, NULL};
	UNIT_INT(runtime_import(runtime, images.archive, references, &err), 0);
	images_free(&images);
	UNIT_INT(runtime_stop(runtime, &err), 0);
	CU_ASSERT_EQUAL(loop_drain(&loop, 10000, NULL), 0);
	CU_ASSERT_FALSE(file_exists(base));
}

static void test_choosing_a_snapshotter(void)
{
	const char *snapshotter = "";
	char *directory CLEANUP_FREE = NULL;
	struct error err = {0};
	CU_ASSERT_EQUAL_FATAL(file_make_temporary("/tmp", "gpucert-", &directory, &err), 0);
	UNIT_INT(containerd_choose_snapshotter(directory, &snapshotter, &err), 0);
	CU_ASSERT_TRUE(strcmp(snapshotter, "overlayfs") == 0 || strcmp(snapshotter, "native") == 0);
	CU_ASSERT_EQUAL(file_remove_tree(directory, NULL), 0);
	/* A file system that cannot hold an upper layer. */
	UNIT_INT(containerd_choose_snapshotter("/proc", &snapshotter, &err), ERROR_NOT_FOUND);
}

static void test_an_archive_that_cannot_be_imported(struct rig *rig)
{
	const char *const references[] = {"docker.io/gpucert/nothing:1", NULL};
	char *archive CLEANUP_FREE =
		path_join(runtime_describe(rig->runtime)->work_directory, "bad.tar");
	struct error err = {0};
	CU_ASSERT_EQUAL_FATAL(file_write_atomic(archive, "no archive\n", 11, 0600, NULL), 0);
	UNIT_INT(runtime_import(rig->runtime, archive, references, &err), ERROR_IO);
	UNIT_CONTAINS(err.text, "bad.tar");
	UNIT_CONTAINS(err.text, "ctr: exited with code 1");
	UNIT_INT(runtime_import(rig->runtime, "/nonexistent.tar", references, &err), ERROR_IO);
	UNIT_CONTAINS(err.text, "/nonexistent.tar");
}

static size_t count_images(struct cri *cri)
{
	Runtime__V1__ListImagesRequest request = RUNTIME__V1__LIST_IMAGES_REQUEST__INIT;
	Runtime__V1__ListImagesResponse *list CLEANUP_CRI_REPLY = NULL;
	CU_ASSERT_EQUAL_FATAL(cri_call_wait(cri, "ListImages", &request.base, &list, NULL), 0);
	return list != NULL ? list->n_images : 0;
}

static size_t count_containers(struct cri *cri)
{
	Runtime__V1__ListContainersRequest request = RUNTIME__V1__LIST_CONTAINERS_REQUEST__INIT;
	Runtime__V1__ListContainersResponse *list CLEANUP_CRI_REPLY = NULL;
	CU_ASSERT_EQUAL_FATAL(cri_call_wait(cri, "ListContainers", &request.base, &list, NULL), 0);
	return list != NULL ? list->n_containers : 0;
}

/* A launcher of the attached run over the runtime of the other. */
static struct launcher *attached_launcher(struct runtime *runtime, const struct rig *rig)
{
	const struct runtime_description *description = runtime_describe(runtime);
	const struct launcher_containerd_options options = {
		.cri = runtime_cri(runtime),
		.image = rig->images.probe.reference,
		.log_directory = description->work_directory,
		.cgroup_parent = description->cgroup_parent,
		.run_id = description->run_id,
		.check_id = "attached",
	};
	struct launcher *launcher = NULL;
	CU_ASSERT_EQUAL_FATAL(launcher_containerd_new(&options, &launcher, NULL), 0);
	return launcher;
}

/* One runtime plays the machine's own: another run attaches to it, and leaves it as it was. */
static void test_attaching(struct rig *rig)
{
	const char *address = runtime_describe(rig->runtime)->address;
	const char *const words[] = {"probe-test", "hang", NULL};
	const struct launch_spec spec = {.name = "test", .command = words};
	const char *const programs[] = {"/proc/self/exe", NULL};
	const struct image_spec image = {.repository = "docker.io/gpucert/other",
					 .base = {.programs = programs}};
	struct image_description other = {0};
	struct launch *owned = NULL;
	struct launch *guest = NULL;
	struct launcher *launcher = NULL;
	struct runtime *runtime = NULL;
	char *archive CLEANUP_FREE =
		path_join(runtime_describe(rig->runtime)->work_directory, "other.tar");
	size_t images = count_images(runtime_cri(rig->runtime));
	struct error err = {0};
	CU_ASSERT_EQUAL_FATAL(image_compose(archive, &image, 1, &other, &err), 0);
	CU_ASSERT_EQUAL_FATAL(launch_start(rig->launcher, &spec, &owned, &err), 0);
	CU_ASSERT_EQUAL_FATAL(runtime_attach(&rig->loop, address, attached, &runtime, &err), 0);
	CU_ASSERT_FALSE(runtime_describe(runtime)->is_private);
	UNIT_STRING(runtime_describe(runtime)->cgroup_parent, "");
	const char *const references[] = {other.reference, NULL};
	UNIT_INT(runtime_import(runtime, archive, references, &err), 0);
	UNIT_INT(count_images(runtime_cri(runtime)), images + 1);
	launcher = attached_launcher(runtime, rig);
	CU_ASSERT_EQUAL_FATAL(launch_start(launcher, &spec, &guest, &err), 0);
	UNIT_INT(launch_result(guest)->end, LAUNCH_RUNNING);
	UNIT_INT(count_containers(runtime_cri(runtime)), 2);
	/* As if the attached run forgot its container. */
	UNIT_INT(cri_sweep(runtime_cri(runtime), runtime_describe(runtime)->run_id, NULL, NULL,
			   &err),
		 0);
	UNIT_INT(count_containers(runtime_cri(rig->runtime)), 1);
	launch_free(guest);
	launcher_free(launcher);
	UNIT_INT(runtime_stop(runtime, &err), 0);
	UNIT_INT(count_images(runtime_cri(rig->runtime)), images);
	CU_ASSERT_FALSE(file_exists(attached));
	UNIT_INT(launch_result(owned)->end, LAUNCH_RUNNING);
	launch_free(owned);
	image_description_free(&other);
}

/* Two runs use the same image: it stays until the second ends. */
static void test_sharing_an_image(struct rig *rig)
{
	const char *address = runtime_describe(rig->runtime)->address;
	const char *const programs[] = {"/proc/self/exe", NULL};
	const struct image_spec image = {.repository = "docker.io/gpucert/shared",
					 .base = {.programs = programs}};
	struct image_description shared = {0};
	struct runtime *first = NULL;
	struct runtime *second = NULL;
	char *archive CLEANUP_FREE =
		path_join(runtime_describe(rig->runtime)->work_directory, "shared.tar");
	size_t images = count_images(runtime_cri(rig->runtime));
	struct error err = {0};
	CU_ASSERT_EQUAL_FATAL(image_compose(archive, &image, 1, &shared, &err), 0);
	const char *const references[] = {shared.reference, NULL};
	CU_ASSERT_EQUAL_FATAL(runtime_attach(&rig->loop, address, attached, &first, &err), 0);
	UNIT_INT(runtime_import(first, archive, references, &err), 0);
	CU_ASSERT_EQUAL_FATAL(runtime_attach(&rig->loop, address, attached, &second, &err), 0);
	UNIT_INT(runtime_import(second, archive, references, &err), 0);
	UNIT_INT(count_images(runtime_cri(rig->runtime)), images + 1);
	UNIT_INT(runtime_stop(first, &err), 0);
	UNIT_INT(count_images(runtime_cri(rig->runtime)), images + 1);
	UNIT_INT(runtime_stop(second, &err), 0);
	UNIT_INT(count_images(runtime_cri(rig->runtime)), images);
	CU_ASSERT_FALSE(file_exists(attached));
	image_description_free(&shared);
}

static void test_attaching_to_nothing(struct rig *rig)
{
	struct runtime *runtime = NULL;
	struct error err = {0};
	UNIT_INT(runtime_attach(&rig->loop, "unix:///nonexistent.sock", attached, &runtime, &err),
		 ERROR_UNAVAILABLE);
	UNIT_CONTAINS(err.text, "unix:///nonexistent.sock");
	UNIT_INT(runtime_attach(&rig->loop, "tcp:127.0.0.1:1", attached, &runtime, &err),
		 ERROR_ARGUMENT);
	CU_ASSERT_FALSE(file_exists(attached));
}

static void test_with_a_runtime(void)
{
	struct rig rig = {0};
	rig_open(&rig, base);
	test_an_archive_that_cannot_be_imported(&rig);
	test_attaching(&rig);
	test_sharing_an_image(&rig);
	test_attaching_to_nothing(&rig);
	rig_close(&rig);
	CU_ASSERT_FALSE(file_exists(base));
}

/* Killed from outside, with its shims, while a container runs: the launch says so, nothing is left.
 */
static void test_a_containerd_that_dies(void)
{
	const char *const words[] = {"probe-test", "hang", NULL};
	const struct launch_spec spec = {.name = "test", .command = words};
	char *directory CLEANUP_FREE = NULL;
	struct launch *launch = NULL;
	struct launch *later = NULL;
	struct rig rig = {0};
	struct error err = {0};
	size_t killed = 0;
	rig_open(&rig, base);
	directory = path_directory(runtime_describe(rig.runtime)->work_directory);
	CU_ASSERT_EQUAL_FATAL(launch_start(rig.launcher, &spec, &launch, &err), 0);
	UNIT_INT(remains_kill_containerd(directory, &killed, &err), 0);
	CU_ASSERT_TRUE(killed >= 2); /* on a busy machine also the shims' starters */
	UNIT_INT(launch_wait(launch, &err), 0);
	UNIT_INT(launch_result(launch)->end, LAUNCH_LOST);
	UNIT_INT(launch_start(rig.launcher, &spec, &later, &err), 0);
	UNIT_INT(launch_result(later)->end, LAUNCH_NO_SANDBOX);
	launch_free(launch);
	launch_free(later);
	rig_close(&rig);
	CU_ASSERT_FALSE(file_exists(base));
}

int main(void)
{
	CU_TestInfo tests[] = {
		{"runtimes that do not start", test_runtimes_that_do_not_start},
		{"base directories that do not serve", test_base_directories_that_do_not_serve},
		{"the native snapshotter", test_the_native_snapshotter},
		{"choosing a snapshotter", test_choosing_a_snapshotter},
		{"attaching and importing", test_with_a_runtime},
		{"a containerd that dies", test_a_containerd_that_dies},
		CU_TEST_INFO_NULL,
	};
	const char *reason = rig_reason_to_skip();
	if (reason != NULL) {
		(void)printf("skipped: %s\n", reason);
		return RIG_SKIP;
	}
	base = rig_base("private");
	attached = rig_base("attached");
	return unit_run("runtimes", tests);
}
