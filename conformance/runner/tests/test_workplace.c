/* SPDX-License-Identifier: MIT */
/* A run on an existing runtime with an image that is there. */
#include "conformance/runner/workplace.h"

#include "base/cleanup.h"
#include "base/file.h"
#include "base/path.h"
#include "base/tests/unit.h"
#include "containers/doubles/cri_double.h"
#include "rpc/loop.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define IMAGE "example.org/probe:1"

static uv_loop_t loop;
static char *directory;
static char *address;
static struct cri_double *runtime;

static void answer_ready(void)
{
	Runtime__V1__StatusResponse answer = {0};
	Runtime__V1__RuntimeStatus status = {0};
	Runtime__V1__RuntimeCondition ready = {0};
	Runtime__V1__RuntimeCondition *conditions[] = {&ready};
	char type[] = "RuntimeReady";
	runtime__v1__runtime_condition__init(&ready);
	ready.type = type;
	ready.status = true;
	runtime__v1__runtime_status__init(&status);
	status.conditions = conditions;
	status.n_conditions = 1;
	runtime__v1__status_response__init(&answer);
	answer.status = &status;
	cri_double_answer(runtime, "Status", &answer.base);
}

static void answer_image(void)
{
	Runtime__V1__ImageStatusResponse answer = {0};
	Runtime__V1__Image image = {0};
	runtime__v1__image__init(&image);
	runtime__v1__image_status_response__init(&answer);
	answer.image = &image;
	cri_double_answer(runtime, "ImageStatus", &answer.base);
}

static void enter(void)
{
	CU_ASSERT_EQUAL_FATAL(uv_loop_init(&loop), 0);
	CU_ASSERT_EQUAL_FATAL(file_make_temporary(unit_temporary(), "gpucert-", &directory, NULL),
			      0);
	address = text_format("unix:%s/cri.sock", directory);
	runtime = cri_double_open(&loop, address);
	answer_ready();
}

static void leave(void)
{
	cri_double_close(runtime);
	CU_ASSERT_EQUAL(loop_drain(&loop, 10000, NULL), 0);
	CU_ASSERT_EQUAL(file_remove_tree(directory, NULL), 0);
	free(directory);
	free(address);
}

static void test_image_is_used(void)
{
	struct workplace workplace = {0};
	struct workplace_options options = {.image = IMAGE};
	Runtime__V1__ImageStatusRequest *asked CLEANUP_CRI_REPLY = NULL;
	struct error err = {0};
	enter();
	answer_image();
	options.cri_address = address;
	UNIT_INT(workplace_open(&loop, &options, &workplace, &err), 0);
	UNIT_STRING(err.text, "");
	UNIT_STRING(workplace.launcher, "containerd");
	UNIT_STRING(workplace.images.probe.reference, IMAGE);
	CU_ASSERT_TRUE(file_is_directory(workplace.run_directory));
	asked = cri_double_request(runtime, "ImageStatus",
				   &runtime__v1__image_status_request__descriptor);
	UNIT_STRING(asked->image->image, IMAGE);
	UNIT_INT(workplace_close(&workplace, &err), 0);
	UNIT_INT(cri_double_calls(runtime, "RemoveImage"), 0); /* it was there before */
	leave();
}

static void test_image_that_is_not_there(void)
{
	struct workplace workplace = {0};
	struct workplace_options options = {.image = IMAGE};
	struct error err = {0};
	enter();
	options.cri_address = address;
	UNIT_INT(workplace_open(&loop, &options, &workplace, &err), ERROR_NOT_FOUND);
	UNIT_STRING(err.text, "image " IMAGE ": the container runtime does not have it");
	leave();
}

#ifndef _WIN32
/* PATH is a folder with nothing but these programs, all of which run `script`. */
static void only_programs(const char *const *names, const char *script)
{
	CU_ASSERT_EQUAL_FATAL(setenv("PATH", directory, 1), 0);
	for (; *names != NULL; names++) {
		char *path CLEANUP_FREE = path_join(directory, *names);
		UNIT_INT(file_write_atomic(path, script, strlen(script), 0755, NULL), 0);
	}
}

/* What is not installed is not there to be tested; what is there has to work. */
static void test_runtime_that_is_not_installed(void)
{
	static const char *const names[] = {"containerd", "ctr", NULL};
	char *path CLEANUP_FREE = strdup(getenv("PATH"));
	struct workplace_options options = {0};
	struct workplace workplace = {0};
	struct error err = {0};
	enter();
	only_programs(names, "#!/bin/sh\n");
	UNIT_INT(workplace_open(&loop, &options, &workplace, &err), 0);
	UNIT_STRING(workplace.launcher, "none");
	UNIT_STRING(workplace.missing, "runc is not installed");
	UNIT_INT(workplace_close(&workplace, &err), 0);
	options.launcher = "containerd";
	CU_ASSERT_TRUE(workplace_open(&loop, &options, &workplace, &err) < 0);
	CU_ASSERT_EQUAL_FATAL(setenv("PATH", path, 1), 0);
	leave();
}

static void test_runtime_that_does_not_work(void)
{
	static const char *const names[] = {"containerd", "ctr", "runc", NULL};
	static const char *const scripts[] = {
		"#!/bin/sh\nexit 1\n",
		"#!/bin/sh\nkill -SEGV $$\n",
		"#!/bin/sh\n[ \"$1\" = --version ] && exec echo containerd x 1.6.20\nexit 1\n",
	};
	char *path CLEANUP_FREE = strdup(getenv("PATH"));
	const struct workplace_options options = {0};
	enter();
	for (size_t i = 0; i < ARRAY_SIZE(scripts); i++) {
		struct workplace workplace = {0};
		struct error err = {0};
		only_programs(names, scripts[i]);
		CU_ASSERT_TRUE(workplace_open(&loop, &options, &workplace, &err) < 0);
		UNIT_CONTAINS(err.text, "containerd");
		UNIT_CONTAINS(err.text, "--launcher process");
	}
	CU_ASSERT_EQUAL_FATAL(setenv("PATH", path, 1), 0);
	leave();
}
#endif

int main(void)
{
	CU_TestInfo tests[] = {
		{"an image that is there is used", test_image_is_used},
		{"an image that is not there", test_image_that_is_not_there},
#ifndef _WIN32
		{"a runtime that is not installed", test_runtime_that_is_not_installed},
		{"a runtime that does not work", test_runtime_that_does_not_work},
#endif
		CU_TEST_INFO_NULL,
	};
#ifndef _WIN32
	if (geteuid() != 0) {
		(void)printf("container runtimes are used by root alone\n");
		return 77;
	}
#endif
	return unit_run("workplace", tests);
}
