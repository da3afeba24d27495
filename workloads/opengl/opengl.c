/* SPDX-License-Identifier: MIT */
#include "workloads/opengl/opengl.h"

#include "base/cleanup.h"
#include "base/memory.h"
#include "base/text.h"

#include <string.h>

enum { ERRORS_MAX = 16 };

static const struct code_advice results[] = {
#include "workloads/opengl/results.h" /* generated from the headers of OpenGL and EGL */
};

void opengl_failed(struct opengl *gl, const char *call, int code)
{
	(void)call_failed_advised(&gl->failure, call, code, results, ARRAY_SIZE(results),
				  &gl->error);
}

/* A context that was lost sets its error again and again. */
bool opengl_check(struct opengl *gl, const char *call)
{
	const GLenum first = gl->glGetError();
	GLenum next = first;
	for (int i = 0; next != GL_NO_ERROR && i < ERRORS_MAX; i++)
		next = gl->glGetError();
	if (first != GL_NO_ERROR)
		opengl_failed(gl, call, (int)first);
	return first == GL_NO_ERROR;
}

int opengl_result(const struct opengl *gl, struct error *err)
{
	if (gl->error.code != 0)
		*err = gl->error;
	return gl->error.code;
}

void opengl_begin(struct opengl *gl, const struct opengl_device *device)
{
	gl->error = (struct error){0};
	gl->failure = (struct call_failure){0};
	gl->absent = NULL;
	opengl_platform_begin(gl, device);
	if (gl->error.code != 0)
		return;
#define X(type, name)                                                                              \
	do {                                                                                       \
		void *address = opengl_platform_function(gl, #name);                               \
		memcpy(&gl->name, &address, sizeof(address)); /* as in library_function() */       \
		if (address == NULL && gl->absent == NULL && !text_ends_with(#name, "EXT"))        \
			gl->absent = #name;                                                        \
	} while (0);
#include "workloads/opengl/functions.h"
#undef X
}

/* Keeps the build log. Functions of shaders and of programs are alike. */
static void not_built(struct opengl *gl, GLuint object, const char *call, PFNGLGETSHADERIVPROC get,
		      PFNGLGETSHADERINFOLOGPROC get_log, struct work_report *report)
{
	GLint size = 0;
	get(object, GL_INFO_LOG_LENGTH, &size);
	if (size > 0 && size <= WORK_BUILD_LOG_MAX) {
		report->build_log = memory_allocate(1, (size_t)size + 1);
		get_log(object, size, NULL, report->build_log);
	}
	opengl_failed(gl, call, GL_FALSE);
}

GLuint opengl_build(struct opengl *gl, const struct opengl_shader *shaders,
		    struct work_report *report)
{
	const char *const version = gl->es ? "#version 310 es\n" : "#version 430 core\n";
	const GLuint program = gl->glCreateProgram();
	GLint linked = GL_TRUE;

	opengl_check(gl, "glCreateProgram");
	for (; gl->error.code == 0 && shaders->source != NULL; shaders++) {
		const GLchar *const sources[] = {version, shaders->source};
		const GLuint name = gl->glCreateShader(shaders->type);
		GLint compiled = GL_TRUE;
		opengl_check(gl, "glCreateShader");
		OPENGL_CALL(gl, glShaderSource, name, ARRAY_SIZE(sources), sources, NULL);
		OPENGL_CALL(gl, glCompileShader, name);
		OPENGL_CALL(gl, glGetShaderiv, name, GL_COMPILE_STATUS, &compiled);
		if (compiled != GL_TRUE)
			not_built(gl, name, "glCompileShader", gl->glGetShaderiv,
				  gl->glGetShaderInfoLog, report);
		OPENGL_CALL(gl, glAttachShader, program, name);
	}
	OPENGL_CALL(gl, glLinkProgram, program);
	OPENGL_CALL(gl, glGetProgramiv, program, GL_LINK_STATUS, &linked);
	if (linked != GL_TRUE)
		not_built(gl, program, "glLinkProgram", gl->glGetProgramiv, gl->glGetProgramInfoLog,
			  report);
	return program;
}

void opengl_wait(struct opengl *gl, uint64_t timeout_ms)
{
	if (gl->error.code != 0)
		return;
	GLsync sync = gl->glFenceSync(GL_SYNC_GPU_COMMANDS_COMPLETE, 0);
	if (opengl_check(gl, "glFenceSync") && sync == NULL)
		(void)error_set(&gl->error, ERROR_REMOTE, "glFenceSync made no fence");
	if (gl->error.code != 0)
		return;
	GLenum state = gl->glClientWaitSync(sync, GL_SYNC_FLUSH_COMMANDS_BIT, timeout_ms * 1000000);
	if (state == GL_TIMEOUT_EXPIRED) {
		(void)error_set(&gl->error, ERROR_TIMEOUT,
				"glClientWaitSync: the device did not finish within %llu ms",
				(unsigned long long)timeout_ms);
		return;
	}
	if (opengl_check(gl, "glClientWaitSync") && state != GL_ALREADY_SIGNALED &&
	    state != GL_CONDITION_SATISFIED)
		opengl_failed(gl, "glClientWaitSync", (int)state);
	gl->glDeleteSync(sync);
}

static int opengl_open(struct api_report *report, void *session, struct error *err)
{
	struct opengl *gl = session;
	const char *said = "";
	size_t answering = 0;
	size_t hardware = 0;

	gl->report = report;
	int rc = opengl_platform_open(gl, err);

	/* Keep the devices that answer: a driver reports its features only in a context. A device that
	 * does not answer hides no other; where none does, its error is the reason, with the first
	 * message of the driver. */
	for (size_t i = 0; rc == 0 && i < gl->device_count; i++) {
		const size_t before = report->messages.count;
		opengl_begin(gl, &gl->devices[i]);
		opengl_read_facts(gl, &gl->devices[i]);
		opengl_platform_end(gl);
		if (opengl_result(gl, err) == 0) {
			gl->devices[answering++] = gl->devices[i];
			continue;
		}
		said = report->messages.count > before ? report->messages.items[before] : "";
		api_report_message(report, err->text);
	}
	gl->report = NULL;
	if (rc != 0)
		return rc;
	if (answering == 0 && gl->device_count != 0) {
		const struct error reason = *err;
		return error_set(err, reason.code, "%s%s%s", reason.text,
				 said[0] != '\0' ? ": " : "", said);
	}
	gl->device_count = answering;

	/* Mesa lists its software renderer next to hardware, wherever it is installed. */
	for (size_t i = 0; i < gl->device_count; i++) {
		if (!gl->devices[i].software)
			gl->devices[hardware++] = gl->devices[i];
	}
	if (hardware != 0 && hardware != gl->device_count) {
		api_report_message(report,
				   "a software renderer is offered next to the hardware: left out");
		gl->device_count = hardware;
	}
	for (size_t i = 0; i < gl->device_count; i++)
		api_report_device(report, opengl_describe_device(&gl->devices[i], i));
	return 0;
}

const struct api_driver opengl_api = {
	.name = "opengl",
	.library = OPENGL_LIBRARY,
	.summary = "Run verified work on an OpenGL device and report what happened",
	.description =
		"Opens EGL (on Windows WGL), makes a context without a visible window on each device, runs a compute shader on one of "
		"them and draws a triangle off-screen, and verifies every element and every pixel on the CPU. A device without "
		"OpenGL 4.3 works with OpenGL ES 3.1.",
	.session_size = sizeof(struct opengl),
	.open = opengl_open,
	.work = opengl_work,
	.close = opengl_platform_close,
};
