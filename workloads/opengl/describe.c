/* SPDX-License-Identifier: MIT */
#include "workloads/opengl/opengl.h"

#include "base/cleanup.h"

#include <stdio.h>
#include <string.h>

enum { EXTENSIONS_MAX = 4096 }; /* examined of one context; drivers have about 400 */

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

void opengl_read_facts(struct opengl *gl, struct opengl_device *device)
{
	const struct {
		GLenum name;
		char *out;
	} texts[] = {
		{GL_RENDERER, device->renderer},
		{GL_VENDOR, device->vendor},
		{GL_VERSION, device->version},
		{GL_SHADING_LANGUAGE_VERSION, device->language},
	};

	if (gl->error.code != 0)
		return;
	if (gl->glGetString == NULL || gl->glGetError == NULL || gl->glGetIntegerv == NULL) {
		(void)error_set(&gl->error, ERROR_UNAVAILABLE, "the driver offers no %s",
				gl->absent);
		return;
	}
	for (size_t i = 0; i < ARRAY_SIZE(texts); i++) {
		const GLubyte *text = gl->glGetString(texts[i].name);
		(void)snprintf(texts[i].out, OPENGL_TEXT_SIZE, "%s",
			       text != NULL ? (const char *)text : "");
	}
	device->software = device->software || renderer_is_software(device->renderer);

	/* The identity of the device, as other APIs report it. */
	if (!opengl_check(gl, "glGetString") || !has_extension(gl, "GL_EXT_memory_object") ||
	    gl->glGetUnsignedBytevEXT == NULL || gl->glGetUnsignedBytei_vEXT == NULL)
		return;
	gl->glGetUnsignedBytei_vEXT(GL_DEVICE_UUID_EXT, 0, device->device_uuid);
	gl->glGetUnsignedBytevEXT(GL_DRIVER_UUID_EXT, device->driver_uuid);
	device->has_uuid = gl->glGetError() == GL_NO_ERROR;
	if (!has_extension(gl, "GL_EXT_memory_object_win32"))
		return;
	gl->glGetUnsignedBytevEXT(GL_DEVICE_LUID_EXT, device->luid);
	device->has_luid = gl->glGetError() == GL_NO_ERROR;
}

cJSON *opengl_describe_device(const struct opengl_device *device, size_t index)
{
	static const char es[] = "OpenGL ES ";
	static const char profile[] = " (Core Profile)";
	struct members members CLEANUP_MEMBERS = api_device_new(index);

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
	if (device->card.known || device->render_node.known)
		api_add_drm(&members, device->card, device->render_node);
	else
		member_null(&members, "drm");
	member_optional(&members, "apiVersion", device->version);
	member_optional(&members, "languageVersion", device->language);

	/* GL_VERSION is the version and, after a space, text of the vendor: the driver's version. */
	const char *version = device->version;
	if (text_starts_with(version, es))
		version += strlen(es);
	const char *driver = strchr(version, ' ');
	if (driver != NULL && text_starts_with(driver, profile))
		driver = strchr(driver + strlen(profile), ' ');
	api_add_driver(&members, driver != NULL ? driver + 1 : NULL);
	return members_take(&members);
}
