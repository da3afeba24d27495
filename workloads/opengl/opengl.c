/* SPDX-License-Identifier: MIT */
#include "workloads/opengl/opengl.h"

#include "base/cleanup.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { ERRORS_MAX = 16, BUILD_LOG_MAX = 64 * 1024 };

#define NAME(enumerator)                                                                           \
	case enumerator:                                                                           \
		return #enumerator

static const char *error_name(GLenum code)
{
	switch (code) {
		NAME(GL_INVALID_ENUM);
		NAME(GL_INVALID_VALUE);
		NAME(GL_INVALID_OPERATION);
		NAME(GL_OUT_OF_MEMORY);
		NAME(GL_INVALID_FRAMEBUFFER_OPERATION);
		NAME(GL_CONTEXT_LOST);
	default:
		return NULL;
	}
}

/* A context that was lost sets its error again and again. */
int opengl_check(struct opengl *gl, const char *call, struct error *err)
{
	const GLenum first = gl->glGetError();
	GLenum next = first;
	for (int i = 0; next != GL_NO_ERROR && i < ERRORS_MAX; i++)
		next = gl->glGetError();
	if (first == GL_NO_ERROR)
		return 0;
	return call_failed(&gl->failure, call, (int)first, error_name(first), err);
}

static void load(struct opengl *gl)
{
	gl->absent = NULL;
#define LOAD(type, name)                                                                           \
	do {                                                                                       \
		void *address = opengl_platform_function(gl, #name);                               \
		memcpy(&gl->name, &address, sizeof(address)); /* as in library_function() */       \
		if (address == NULL && gl->absent == NULL)                                         \
			gl->absent = #name;                                                        \
	} while (0);
	OPENGL_FUNCTIONS(LOAD)
#undef LOAD
}

int opengl_begin(struct opengl *gl, const struct opengl_device *device, struct error *err)
{
	int rc = opengl_platform_begin(gl, device, err);
	if (rc == 0)
		load(gl);
	return rc;
}

static char *read_log(struct opengl *gl, GLuint object, bool program)
{
	GLint size = 0;
	if (program)
		gl->glGetProgramiv(object, GL_INFO_LOG_LENGTH, &size);
	else
		gl->glGetShaderiv(object, GL_INFO_LOG_LENGTH, &size);
	char *log = size > 0 && size <= BUILD_LOG_MAX ? calloc(1, (size_t)size + 1) : NULL;
	if (log != NULL && program)
		gl->glGetProgramInfoLog(object, size, NULL, log);
	else if (log != NULL)
		gl->glGetShaderInfoLog(object, size, NULL, log);
	return log;
}

static int not_built(struct opengl *gl, GLuint object, const char *call, struct work_report *report,
		     struct error *err)
{
	report->build_log = read_log(gl, object, strcmp(call, "glLinkProgram") == 0);
	return call_failed(&gl->failure, call, GL_FALSE, "GL_FALSE", err);
}

static int compile(struct opengl *gl, const struct opengl_shader *shader, GLuint program,
		   struct work_report *report, struct error *err)
{
	const char *const version = gl->es ? "#version 310 es\n" : "#version 430 core\n";
	const GLchar *const sources[] = {version, shader->source};
	const GLuint name = gl->glCreateShader(shader->type);
	GLint done = GL_FALSE;
	int rc = opengl_check(gl, "glCreateShader", err);
	if (rc == 0)
		rc = OPENGL_CALL(gl, err, glShaderSource, name, ARRAY_SIZE(sources), sources, NULL);
	if (rc == 0)
		rc = OPENGL_CALL(gl, err, glCompileShader, name);
	if (rc == 0)
		rc = OPENGL_CALL(gl, err, glGetShaderiv, name, GL_COMPILE_STATUS, &done);
	if (rc == 0 && done != GL_TRUE)
		return not_built(gl, name, "glCompileShader", report, err);
	return rc == 0 ? OPENGL_CALL(gl, err, glAttachShader, program, name) : rc;
}

int opengl_build(struct opengl *gl, const struct opengl_shader *shaders, GLuint *program,
		 struct work_report *report, struct error *err)
{
	GLint done = GL_FALSE;
	*program = gl->glCreateProgram();
	int rc = opengl_check(gl, "glCreateProgram", err);
	for (; rc == 0 && shaders->source != NULL; shaders++)
		rc = compile(gl, shaders, *program, report, err);
	if (rc == 0)
		rc = OPENGL_CALL(gl, err, glLinkProgram, *program);
	if (rc == 0)
		rc = OPENGL_CALL(gl, err, glGetProgramiv, *program, GL_LINK_STATUS, &done);
	return rc == 0 && done != GL_TRUE ? not_built(gl, *program, "glLinkProgram", report, err)
					  : rc;
}

int opengl_wait(struct opengl *gl, uint64_t timeout_ms, struct error *err)
{
	GLsync sync = gl->glFenceSync(GL_SYNC_GPU_COMMANDS_COMPLETE, 0);
	int rc = opengl_check(gl, "glFenceSync", err);
	if (rc == 0 && sync == NULL)
		rc = error_set(err, ERROR_REMOTE, "glFenceSync made no fence");
	if (rc != 0)
		return rc;
	GLenum state = gl->glClientWaitSync(sync, GL_SYNC_FLUSH_COMMANDS_BIT, timeout_ms * 1000000);
	if (state == GL_TIMEOUT_EXPIRED)
		return error_set(err, ERROR_TIMEOUT,
				 "glClientWaitSync: the device did not finish within %llu ms",
				 (unsigned long long)timeout_ms);
	rc = opengl_check(gl, "glClientWaitSync", err);
	if (rc == 0 && state != GL_ALREADY_SIGNALED && state != GL_CONDITION_SATISFIED)
		rc = call_failed(&gl->failure, "glClientWaitSync", (int)state,
				 state == GL_WAIT_FAILED ? "GL_WAIT_FAILED" : NULL, err);
	gl->glDeleteSync(sync);
	return rc;
}

/* What a driver offers can be told in a context alone. */
static int ask(struct opengl *gl, struct opengl_device *device, struct error *err)
{
	int rc = opengl_begin(gl, device, err);
	if (rc == 0)
		rc = opengl_read_facts(gl, device, err);
	opengl_platform_end(gl);
	return rc;
}

/* Keeps the devices that answer. One that does not hides no other; where none does, its error is
 * the reason, with what the driver said first. */
static int ask_all(struct opengl *gl, struct api_report *report, struct error *err)
{
	size_t answering = 0;
	struct error reason = {0};
	const char *said = "";
	for (size_t i = 0; i < gl->device_count; i++) {
		const size_t before = report->messages.count;
		struct error failure = {0};
		if (ask(gl, &gl->devices[i], &failure) == 0) {
			gl->devices[answering++] = gl->devices[i];
			continue;
		}
		reason = failure;
		said = report->messages.count > before ? report->messages.items[before] : "";
		api_report_message(report, failure.text);
	}
	if (answering == 0 && gl->device_count != 0)
		return error_set(err, reason.code, "%s%s%s", reason.text,
				 said[0] != '\0' ? ": " : "", said);
	gl->device_count = answering;
	return 0;
}

/* Mesa shows its software renderer beside hardware, wherever it is installed: it stands in for
 * nothing then. */
static void leave_out_stand_in(struct opengl *gl, struct api_report *report)
{
	size_t hardware = 0;
	for (size_t i = 0; i < gl->device_count; i++) {
		if (!gl->devices[i].software)
			gl->devices[hardware++] = gl->devices[i];
	}
	if (hardware == 0 || hardware == gl->device_count)
		return;
	api_report_message(report, "a software renderer is offered beside the hardware: left out");
	gl->device_count = hardware;
}

static int describe(const struct opengl *gl, struct api_report *report, struct error *err)
{
	int rc = 0;
	for (size_t i = 0; rc == 0 && i < gl->device_count; i++)
		rc = api_report_device(report, opengl_describe_device(&gl->devices[i], i), err);
	return rc;
}

static void opengl_close(void *session)
{
	struct opengl *gl = session;
	opengl_platform_close(gl);
	free(gl->devices);
	free(gl);
}

static int opengl_open(struct api_report *report, void **session, struct error *err)
{
	struct opengl *gl = calloc(1, sizeof(*gl));
	if (gl == NULL)
		return error_memory(err);
	gl->devices = calloc(API_DEVICES_MAX, sizeof(*gl->devices));
	int rc = gl->devices != NULL ? opengl_platform_open(gl, report, err) : error_memory(err);
	if (rc == 0)
		rc = ask_all(gl, report, err);
	if (rc == 0) {
		leave_out_stand_in(gl, report);
		rc = describe(gl, report, err);
	}
	if (gl->platform != NULL)
		opengl_platform_listen(gl, NULL);
	if (rc == 0)
		*session = gl;
	else
		opengl_close(gl);
	return rc;
}

const struct api_driver opengl_api = {
	.name = "opengl",
	.library = OPENGL_LIBRARY,
	.summary = "Make OpenGL work on a device and tell what happened",
	.description =
		"Opens EGL (on Windows WGL), makes a context without a visible window on each device, runs a compute shader on one of "
		"them and draws a triangle off-screen, and verifies every element and every pixel on the CPU. A device without "
		"OpenGL 4.3 works with OpenGL ES 3.1.",
	.open = opengl_open,
	.work = opengl_work,
	.close = opengl_close,
};
