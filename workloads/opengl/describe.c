/* SPDX-License-Identifier: MIT */
#include "workloads/opengl/opengl.h"

#include "base/cleanup.h"

#include <stdio.h>
#include <string.h>

enum { EXTENSIONS_MAX = 4096 }; /* read of one context; drivers have about 400 */

/* GL_EXT_memory_object and its companion for Windows; glcorearb.h has no extensions of vendors. */
#define DEVICE_UUID 0x9597
#define DRIVER_UUID 0x9598
#define DEVICE_LUID 0x9599
typedef void(APIENTRYP get_bytes)(GLenum name, GLubyte *data);
typedef void(APIENTRYP get_bytes_indexed)(GLenum name, GLuint index, GLubyte *data);

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
	get_bytes get = NULL;
	get_bytes_indexed get_indexed = NULL;
	void *plain = opengl_platform_function(gl, "glGetUnsignedBytevEXT");
	void *indexed = opengl_platform_function(gl, "glGetUnsignedBytei_vEXT");
	if (!has_extension(gl, "GL_EXT_memory_object") || plain == NULL || indexed == NULL)
		return;
	memcpy(&get, &plain, sizeof(get));
	memcpy(&get_indexed, &indexed, sizeof(get_indexed));
	get_indexed(DEVICE_UUID, 0, device->device_uuid);
	get(DRIVER_UUID, device->driver_uuid);
	device->has_uuid = gl->glGetError() == GL_NO_ERROR;
	if (!has_extension(gl, "GL_EXT_memory_object_win32"))
		return;
	get(DEVICE_LUID, device->luid);
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

/* The numbers of what the kernel calls cardN and renderDN: DRM has one major number. */
static cJSON *drm_json(const struct opengl_device *device)
{
	struct members drm CLEANUP_MEMBERS = members_new();
	if (device->card < 0 && device->render_node < 0)
		return cJSON_CreateNull();
	if (device->card >= 0)
		member_format(&drm, "primary", "226:%d", device->card);
	else
		member_null(&drm, "primary");
	if (device->render_node >= 0)
		member_format(&drm, "render", "226:%d", device->render_node);
	else
		member_null(&drm, "render");
	return members_take(&drm);
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
	member_null(&members, "pciAddress");
	member_item(&members, "drm", drm_json(device));
	member_optional(&members, "apiVersion", device->version);
	member_optional(&members, "languageVersion", device->language);
	api_add_driver(&members, driver_version(device));
	member_null(&members, "memoryBytes");
	return members_take(&members);
}
