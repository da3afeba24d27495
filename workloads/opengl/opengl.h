/* SPDX-License-Identifier: MIT */
#pragma once

/*
 * OpenGL and OpenGL ES as probes use them. opengl_api (common/api.h) is what programs need; the
 * rest is shared by the files of this folder. Contexts have no window and no surface: what is drawn
 * goes to a framebuffer object.
 */

#include "base/error.h"
#include "workloads/common/api.h"
#include "workloads/common/work.h"

#include <GL/glcorearb.h>
#include <GL/glext.h> /* after it: the extensions of vendors */

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define OPENGL_LIBRARY API_LIBRARY("opengl32.dll", "libEGL.so.1")

#define OPENGL_DECLARE(type, name) type name;

enum { OPENGL_UUID_SIZE = 16, OPENGL_LUID_SIZE = 8, OPENGL_TEXT_SIZE = 256 };

/* A device that contexts can be made for, and the facts that its driver reported in one. */
struct opengl_device {
	void *handle;  /* of the platform: an EGLDisplay */
	bool software; /* the processor does the work */
	char renderer[OPENGL_TEXT_SIZE], vendor[OPENGL_TEXT_SIZE], version[OPENGL_TEXT_SIZE];
	char language[OPENGL_TEXT_SIZE];
	bool has_uuid, has_luid;
	uint8_t device_uuid[OPENGL_UUID_SIZE], driver_uuid[OPENGL_UUID_SIZE];
	uint8_t luid[OPENGL_LUID_SIZE];
	struct api_node card, render_node; /* /dev/dri/cardN, /dev/dri/renderDN */
};

struct opengl_platform; /* what a platform keeps */

struct opengl {
#define X OPENGL_DECLARE
#include "workloads/opengl/functions.h" /* those that this folder calls; NULL: not offered */
#undef X
	const char *absent; /* the first of them that is not, extensions apart; NULL: none */
	struct opengl_platform *platform;
	struct api_report *report; /* receives EGL's messages while the API is opened; then NULL */
	struct opengl_device devices[API_DEVICES_MAX];
	size_t device_count;
	bool es;  /* the context is one of OpenGL ES */
	bool old; /* the context is older than the work needs */
	/* The first error since opengl_begin(), and the call that failed: as OpenGL keeps its first
	 * error. Later steps do nothing, so that one check at the end is enough. */
	struct error error;
	struct call_failure failure;
};

/*
 * The platform: EGL without windows (platform_egl.c), or WGL with a window that is never shown
 * (platform_wgl.c).
 */

/* Opens the library and adds the devices that contexts may be made for to gl->devices, with the facts
 * that are known without a context. Errors as for the `open` of an api_driver. */
int opengl_platform_open(struct opengl *gl, struct error *err);
/* Makes a context on a device and makes it current: OpenGL 4.3 core or later, else OpenGL ES 3.1,
 * else the driver's newest, which sets gl->old. */
void opengl_platform_begin(struct opengl *gl, const struct opengl_device *device);
/* Destroys the context, and with it all that was made in it. */
void opengl_platform_end(struct opengl *gl);
/* The address of a function of the current context; NULL: there is none. */
void *opengl_platform_function(const struct opengl *gl, const char *name);
void opengl_platform_close(void *session);

/* Forgets errors; platform begin, and all functions of the context. */
void opengl_begin(struct opengl *gl, const struct opengl_device *device);

/* Keeps a call of OpenGL or EGL that failed, by its code. */
void opengl_failed(struct opengl *gl, const char *call, int code);
/* Whether no error is set; keeps the one that is. */
bool opengl_check(struct opengl *gl, const char *call);
/* gl->error, as functions return errors. */
int opengl_result(const struct opengl *gl, struct error *err);

/* Calls a function without result and checks; after an error nothing. */
#define OPENGL_CALL(gl, function, ...)                                                             \
	((gl)->error.code == 0 ? ((gl)->function(__VA_ARGS__), opengl_check((gl), #function))      \
			       : false)

/* A program of shaders, ended by one without a source; the version goes before each. The log of a failed
 * build goes to the report. */
struct opengl_shader {
	GLenum type;
	const char *source;
};
GLuint opengl_build(struct opengl *gl, const struct opengl_shader *shaders,
		    struct work_report *report);

/* Waits for everything that was asked of the context. ERROR_TIMEOUT: it did not finish. */
void opengl_wait(struct opengl *gl, uint64_t timeout_ms);

/* describe.c: whether GL_RENDERER names a processor: llvmpipe, softpipe, Mesa's swrast, SwiftShader,
 * GDI. */
bool renderer_is_software(const char *renderer);
/* Reads the facts that the current context reports. */
void opengl_read_facts(struct opengl *gl, struct opengl_device *device);
/* One element of `devices`. */
cJSON *opengl_describe_device(const struct opengl_device *device, size_t index);

/* work.c: errors as for the `work` of an api_driver. */
int opengl_work(void *session, const struct work_request *request, struct work_report *report,
		struct error *err);
