/* SPDX-License-Identifier: MIT */
#include "workloads/opengl/opengl.h"

#include "base/cleanup.h"

#include <stdio.h>
#include <string.h>

enum { EXTENSIONS_MAX = 4096 }; /* read of one context; drivers have about 400 */

bool renderer_is_software(const char *renderer)
{
	static const char *const names[] = {"llvmpipe",
					    "softpipe",
					    "swrast",
					    "Software Rasterizer",
					    "SwiftShader",
					    "GDI Generic",
					    "Microsoft Basic Render"};
	for (size_t i = 0; i < ARRAY_SIZE(names); i++) {
		if (strstr(renderer, names[i]) != NULL)
			return true;
	}
	return false;
}

static void copy_string(struct opengl *gl, GLenum name, char out[static OPENGL_TEXT_SIZE])
{
	const GLubyte *text = gl->glGetString(name);
	(void)snprintf(out, OPENGL_TEXT_SIZE, "%s", text != NULL ? (const char *)text : "");
}

static bool has_extension(struct opengl *gl, const char *wanted)
{
	GLint count = 0;
	if (gl->glGetStringi == NULL)
		return false;
	gl->glGetIntegerv(GL_NUM_EXTENSIONS, &count);
	for (GLint i = 0; i < count && i < EXTENSIONS_MAX; i++) {
		const GLubyte *name = gl->glGetStringi(GL_EXTENSIONS, (GLuint)i);
		if (name != NULL && strcmp((const char *)name, wanted) == 0)
			return true;
	}
	return false;
}

/* Who the device is, by what other APIs call it as well. */
static void read_identity(struct opengl *gl, struct opengl_device *device)
{
	if (!has_extension(gl, "GL_EXT_memory_object") || gl->glGetUnsignedBytevEXT == NULL ||
	    gl->glGetUnsignedBytei_vEXT == NULL)
		return;
	gl->glGetUnsignedBytei_vEXT(GL_DEVICE_UUID_EXT, 0, device->device_uuid);
	gl->glGetUnsignedBytevEXT(GL_DRIVER_UUID_EXT, device->driver_uuid);
	device->has_uuid = gl->glGetError() == GL_NO_ERROR;
	if (!has_extension(gl, "GL_EXT_memory_object_win32"))
		return;
	gl->glGetUnsignedBytevEXT(GL_DEVICE_LUID_EXT, device->luid);
	device->has_luid = gl->glGetError() == GL_NO_ERROR;
}

void opengl_read_facts(struct opengl *gl, struct opengl_device *device)
{
	if (gl->error.code != 0)
		return;
	if (gl->glGetString == NULL || gl->glGetError == NULL || gl->glGetIntegerv == NULL) {
		(void)error_set(&gl->error, ERROR_UNAVAILABLE, "the driver offers no %s",
				gl->absent);
		return;
	}
	copy_string(gl, GL_RENDERER, device->renderer);
	copy_string(gl, GL_VENDOR, device->vendor);
	copy_string(gl, GL_VERSION, device->version);
	copy_string(gl, GL_SHADING_LANGUAGE_VERSION, device->language);
	device->software = device->software || renderer_is_software(device->renderer);
	if (opengl_check(gl, "glGetString"))
		read_identity(gl, device);
}

/* GL_VERSION is the version and, behind a space, what the vendor wants to say: the driver's. */
static const char *driver_version(const struct opengl_device *device)
{
	const char *prefix = "OpenGL ES ";
	const char *version = device->version;
	if (strncmp(version, prefix, strlen(prefix)) == 0)
		version += strlen(prefix);
	const char *space = strchr(version, ' ');
	const char *profile = " (Core Profile)";
	if (space != NULL && strncmp(space, profile, strlen(profile)) == 0)
		space = strchr(space + strlen(profile), ' ');
	return space != NULL ? space + 1 : NULL;
}

cJSON *opengl_describe_device(const struct opengl_device *device, size_t index)
{
	struct members members CLEANUP_MEMBERS = members_new();
	member_number(&members, "index", (double)index);
	member_optional(&members, "name", device->renderer);
	member_string(&members, "type", device->software ? "cpu" : NULL);
	member_bool(&members, "software", device->software);
	member_optional(&members, "vendor", device->vendor);
	member_bytes(&members, "deviceUuid", device->has_uuid ? device->device_uuid : NULL,
		     OPENGL_UUID_SIZE);
	member_bytes(&members, "driverUuid", device->has_uuid ? device->driver_uuid : NULL,
		     OPENGL_UUID_SIZE);
	member_bytes(&members, "deviceLuid", device->has_luid ? device->luid : NULL,
		     OPENGL_LUID_SIZE);
	if (device->card.told || device->render_node.told)
		api_add_drm(&members, device->card, device->render_node);
	else
		member_null(&members, "drm");
	member_optional(&members, "apiVersion", device->version);
	member_optional(&members, "languageVersion", device->language);
	api_add_driver(&members, driver_version(device));
	return members_take(&members);
}
