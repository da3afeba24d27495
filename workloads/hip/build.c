/* SPDX-License-Identifier: MIT */
#include "workloads/hip/hip.h"

#include "base/cleanup.h"
#include "workloads/hip/code_objects.h" /* generated from code/, which compile.sh makes */
#include "workloads/hip/work_source.h"	/* generated from work.hip */

#include <stdlib.h>
#include <string.h>

enum { BUILD_LOG_MAX = 64 * 1024, CODE_MAX = 16 * 1024 * 1024 };

static const struct code_object {
	const char *target;
	const char *image;
} code_objects[] = {
#define CODE(target) {#target, code_##target},
	CODE_OBJECTS
#undef CODE
};

static const struct code_name compiler_results[] = {
	{1, "HIPRTC_ERROR_OUT_OF_MEMORY"},
	{2, "HIPRTC_ERROR_PROGRAM_CREATION_FAILURE"},
	{3, "HIPRTC_ERROR_INVALID_INPUT"},
	{4, "HIPRTC_ERROR_INVALID_PROGRAM"},
	{5, "HIPRTC_ERROR_INVALID_OPTION"},
	{6, "HIPRTC_ERROR_COMPILATION"},
	{7, "HIPRTC_ERROR_BUILTIN_OPERATION_FAILURE"},
	{11, "HIPRTC_ERROR_INTERNAL_ERROR"},
};

static int check(struct hip *hip, hip_result result, const char *call, struct error *err)
{
	if (result == HIP_SUCCESS)
		return 0;
	return call_failed(&hip->calls.failure, call, result,
			   code_name(compiler_results, ARRAY_SIZE(compiler_results), result), err);
}

/* check() of a function. */
#define COMPILER_CALL(hip, err, function, ...)                                                     \
	check(hip, (hip)->function(__VA_ARGS__), #function, err)

static void keep_log(struct hip *hip, hip_program program, struct work_report *report)
{
	size_t size = 0;
	if (hip->hiprtcGetProgramLogSize(program, &size) != HIP_SUCCESS || size > BUILD_LOG_MAX)
		return;
	char *log CLEANUP_FREE = calloc(1, size + 1);
	if (log != NULL && hip->hiprtcGetProgramLog(program, log) == HIP_SUCCESS)
		report->build_log = STEAL(log);
}

static int take_code(struct hip *hip, hip_program program, void **image, struct error *err)
{
	size_t size = 0;
	int rc = COMPILER_CALL(hip, err, hiprtcGetCodeSize, program, &size);
	if (rc == 0 && (size == 0 || size > CODE_MAX))
		return error_set(err, ERROR_REMOTE,
				 "hiprtcGetCodeSize told %zu bytes of code for one kernel", size);
	if (rc == 0 && (*image = calloc(1, size)) == NULL)
		return error_memory(err);
	return rc == 0 ? COMPILER_CALL(hip, err, hiprtcGetCode, program, *image) : rc;
}

/* For the device that is set. */
static int compile(struct hip *hip, void **image, struct work_report *report, struct error *err)
{
	hip_program program = NULL;
	int rc = COMPILER_CALL(hip, err, hiprtcCreateProgram, &program, work_source, "work.hip", 0,
			       NULL, NULL);
	if (rc != 0)
		return rc;
	rc = COMPILER_CALL(hip, err, hiprtcCompileProgram, program, 0, NULL);
	if (rc != 0)
		keep_log(hip, program, report);
	else
		rc = take_code(hip, program, image, err);
	(void)hip->hiprtcDestroyProgram(&program);
	return rc;
}

int hip_build(struct hip *hip, const struct hip_device *device, const void **image, void **compiled,
	      struct work_report *report, struct error *err)
{
	for (size_t i = 0; i < ARRAY_SIZE(code_objects); i++) {
		*image = code_objects[i].image;
		if (strcmp(code_objects[i].target, device->arch) == 0)
			return 0;
	}
	if (hip->hiprtcCreateProgram == NULL)
		return error_set(err, ERROR_UNSUPPORTED,
				 "no code object for %s, and the runtime has no compiler (hiprtc)",
				 device->arch[0] != '\0' ? device->arch
							 : "a device that tells no name");
	int rc = compile(hip, compiled, report, err);
	*image = *compiled;
	return rc;
}
