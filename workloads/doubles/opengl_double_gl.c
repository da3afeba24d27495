/* SPDX-License-Identifier: MIT */
/* The OpenGL of the double: memory, the compute shader and the picture of the probes. */
#include "workloads/doubles/opengl_double.h"

#include "workloads/doubles/settings.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { BUFFERS = 3, SIZE = 64, CHANNELS = 4 };

static GLenum error;
static struct {
	unsigned char *bytes;
	GLsizeiptr size;
} buffers[BUFFERS + 1];
static GLuint bound, integers[2];
static GLfloat scale, clear_colour[CHANNELS], triangle[CHANNELS];
static unsigned char picture[SIZE][SIZE][CHANNELS];

/* Returns if the call must fail. */
#define ENTER(name)                                                                                \
	do {                                                                                       \
		const int result_ = setting_enter(name);                                           \
		if (result_ != 0) {                                                                \
			error = (GLenum)result_;                                                   \
			return;                                                                    \
		}                                                                                  \
	} while (0)

static GLenum get_error(void)
{
	const GLenum current = error;
	error = GL_NO_ERROR;
	return current;
}

static const GLubyte *get_string(GLenum name)
{
	static char text[128];
	const char *version = setting_has("old")  ? "OpenGL ES 2.0 Double 1.2.3"
			      : setting_has("es") ? "OpenGL ES 3.1 Double 1.2.3"
						  : "4.6.0 Double 1.2.3";
	error = (GLenum)setting_enter("glGetString");
	if (name == GL_RENDERER &&
	    (setting_has("software") ||
	     setting_number("software", DOUBLE_DEVICES_MAX) == double_device))
		return (const GLubyte *)"Double softpipe";
	if (name == GL_RENDERER)
		(void)snprintf(text, sizeof(text), "Double %u \xff", double_device);
	else
		(void)snprintf(text, sizeof(text), "%s", name == GL_VERSION ? version : "Doubles");
	return (const GLubyte *)text;
}

static const GLubyte *get_string_indexed(GLenum name, GLuint index)
{
	return (const GLubyte *)(name == GL_EXTENSIONS && index == 1 ? "GL_EXT_memory_object"
								     : "GL_ARB_x");
}

static void get_integer(GLenum name, GLint *out)
{
	*out = name == GL_NUM_EXTENSIONS && !setting_has("old") ? 2 : 0;
}

static void get_integer64(GLenum name, GLint64 *out)
{
	(void)name;
	*out = 1 << 27;
}

static void get_uuid(GLenum name, GLubyte *out)
{
	(void)name;
	memset(out, 0xd0, 16);
}

static void get_device_uuid(GLenum name, GLuint index, GLubyte *out)
{
	(void)name;
	(void)index;
	memset(out, (int)double_device + 1, 16);
}

static void generate(GLsizei count, GLuint *names)
{
	ENTER("glGenBuffers");
	for (GLsizei i = 0; i < count; i++)
		names[i] = (GLuint)i + 1;
}

static void bind_base(GLenum target, GLuint index, GLuint name)
{
	(void)target;
	(void)index;
	bound = name;
}

static void bind(GLenum target, GLuint name)
{
	(void)target;
	bound = name;
}

static void buffer_data(GLenum target, GLsizeiptr size, const void *data, GLenum usage)
{
	(void)target;
	(void)usage;
	ENTER("glBufferData");
	buffers[bound].bytes = realloc(buffers[bound].bytes, (size_t)size);
	if (buffers[bound].bytes == NULL)
		_Exit(99);
	buffers[bound].size = size;
	memcpy(buffers[bound].bytes, data, (size_t)size);
}

static void *map(GLenum target, GLintptr offset, GLsizeiptr length, GLbitfield access)
{
	(void)target;
	(void)length;
	(void)access;
	error = (GLenum)setting_enter("glMapBufferRange");
	return error == 0 && !setting_has("unmapped") ? buffers[bound].bytes + offset : NULL;
}

static GLboolean unmap(GLenum target)
{
	(void)target;
	return setting_has("lost") ? GL_FALSE : GL_TRUE;
}

static void uniform_integer(GLint location, GLuint value)
{
	if (location >= 0 && location < 2)
		integers[location] = value;
}

static void uniform_float(GLint location, GLfloat value)
{
	(void)location;
	scale = value;
}

static void uniform_colour(GLint location, GLsizei count, const GLfloat *value)
{
	(void)location;
	(void)count;
	memcpy(triangle, value, sizeof(triangle));
}

static void dispatch(GLuint x, GLuint y, GLuint z)
{
	(void)x;
	(void)y;
	(void)z;
	ENTER("glDispatchCompute");
	setting_work((void *)buffers[1].bytes, (void *)buffers[2].bytes, (void *)buffers[3].bytes,
		     integers[0], integers[1], scale);
}

static GLsync fence(GLenum condition, GLbitfield flags)
{
	static char sync;
	(void)condition;
	(void)flags;
	error = (GLenum)setting_enter("glFenceSync");
	return error == 0 ? (GLsync)(void *)&sync : NULL;
}

static GLenum wait_sync(GLsync sync, GLbitfield flags, GLuint64 timeout)
{
	(void)sync;
	(void)flags;
	(void)timeout;
	error = (GLenum)setting_enter("glClientWaitSync");
	return setting_has("hang") ? GL_TIMEOUT_EXPIRED : GL_CONDITION_SATISFIED;
}

static GLuint create(void)
{
	return 1;
}

static void get_status(GLuint object, GLenum what, GLint *out)
{
	(void)object;
	*out = what == GL_INFO_LOG_LENGTH ? 64 : setting_has("broken") ? GL_FALSE : GL_TRUE;
}

static void get_log(GLuint object, GLsizei room, GLsizei *length, GLchar *out)
{
	(void)object;
	(void)length;
	(void)snprintf(out, (size_t)room, "double: error: the shader does not please");
}

static GLenum framebuffer_status(GLenum target)
{
	const int status = setting_enter("glCheckFramebufferStatus");
	(void)target;
	return status != 0 ? (GLenum)status : GL_FRAMEBUFFER_COMPLETE;
}

static void clear_colour_is(GLfloat red, GLfloat green, GLfloat blue, GLfloat alpha)
{
	const GLfloat colour[CHANNELS] = {red, green, blue, alpha};
	memcpy(clear_colour, colour, sizeof(clear_colour));
}

static void fill(const GLfloat *colour, int everything)
{
	for (int i = 0; i < SIZE * SIZE; i++) {
		const int x = i % SIZE;
		const int y = i / SIZE;
		for (int c = 0; c < CHANNELS; c++)
			if (everything || (x >= 8 && y >= 8 && x + y + 1 <= 64))
				picture[y][x][c] = (unsigned char)(colour[c] * 255.0f + 0.5f);
	}
}

static void clear(GLbitfield mask)
{
	(void)mask;
	fill(clear_colour, 1);
}

static void draw(GLenum mode, GLint first, GLsizei count)
{
	(void)mode;
	(void)first;
	(void)count;
	ENTER("glDrawArrays");
	if (!setting_has("nothing"))
		fill(triangle, 0);
}

static void read_pixels(GLint x, GLint y, GLsizei width, GLsizei height, GLenum format, GLenum type,
			void *out)
{
	const size_t wrong = setting_number("pixel", (size_t)SIZE * SIZE);
	(void)x;
	(void)y;
	(void)width;
	(void)height;
	(void)format;
	(void)type;
	ENTER("glReadPixels");
	if (wrong < (size_t)SIZE * SIZE)
		picture[wrong / SIZE][wrong % SIZE][2] ^= 1u;
	memcpy(out, picture, sizeof(picture));
}

/* For functions that need not do anything. */
static void nothing(void)
{
}

#define FUNCTION(name, function)                                                                   \
	{                                                                                          \
		name, (void (*)(void))(function)                                                   \
	}

static const struct {
	const char *name;
	void (*function)(void);
} functions[] = {
	FUNCTION("glBindBuffer", bind),
	FUNCTION("glBindBufferBase", bind_base),
	FUNCTION("glBufferData", buffer_data),
	FUNCTION("glCheckFramebufferStatus", framebuffer_status),
	FUNCTION("glClear", clear),
	FUNCTION("glClearColor", clear_colour_is),
	FUNCTION("glClientWaitSync", wait_sync),
	FUNCTION("glCreateProgram", create),
	FUNCTION("glCreateShader", create),
	FUNCTION("glDispatchCompute", dispatch),
	FUNCTION("glDrawArrays", draw),
	FUNCTION("glFenceSync", fence),
	FUNCTION("glGenBuffers", generate),
	FUNCTION("glGetError", get_error),
	FUNCTION("glGetInteger64v", get_integer64),
	FUNCTION("glGetIntegerv", get_integer),
	FUNCTION("glGetProgramInfoLog", get_log),
	FUNCTION("glGetProgramiv", get_status),
	FUNCTION("glGetShaderInfoLog", get_log),
	FUNCTION("glGetShaderiv", get_status),
	FUNCTION("glGetString", get_string),
	FUNCTION("glGetStringi", get_string_indexed),
	FUNCTION("glGetUnsignedBytei_vEXT", get_device_uuid),
	FUNCTION("glGetUnsignedBytevEXT", get_uuid),
	FUNCTION("glMapBufferRange", map),
	FUNCTION("glReadPixels", read_pixels),
	FUNCTION("glUniform1f", uniform_float),
	FUNCTION("glUniform1ui", uniform_integer),
	FUNCTION("glUniform4fv", uniform_colour),
	FUNCTION("glUnmapBuffer", unmap),
};

void *double_gl_function(const char *name)
{
	void (*found)(void) = nothing;
	void *address = NULL;
	for (size_t i = 0; i < sizeof(functions) / sizeof(*functions); i++) {
		if (strcmp(functions[i].name, name) == 0)
			found = functions[i].function;
	}
	memcpy(&address, &found, sizeof(address));
	return address;
}
