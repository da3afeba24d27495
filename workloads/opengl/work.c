/* SPDX-License-Identifier: MIT */
#include "workloads/opengl/opengl.h"

#include "workloads/opengl/triangle_pixel.h"  /* generated from triangle.frag */
#include "workloads/opengl/triangle_vertex.h" /* generated from triangle.vert */
#include "workloads/opengl/work_shader.h"     /* generated from work.comp */

#include <string.h>

struct computation {
	struct opengl *gl;
	const struct work_request *request;
	struct work_report *report;
	GLuint program, buffers[WORK_ARRAYS];
	GLsizeiptr array_size; /* bytes */
	struct work_data data;
};

static int open_device(void *work, struct error *err)
{
	struct computation *c = work;
	const struct opengl_device *device = &c->gl->devices[c->request->device];
	opengl_begin(c->gl, device);
	if (c->gl->error.code == 0 && c->gl->old)
		return error_set(err, ERROR_UNSUPPORTED,
				 "the device offers %s; the work needs OpenGL 4.3 or OpenGL ES 3.1",
				 device->version);
	if (c->gl->error.code == 0 && c->gl->absent != NULL)
		return error_set(err, ERROR_UNSUPPORTED, "the driver offers no %s", c->gl->absent);
	return opengl_result(c->gl, err);
}

static int build(void *work, struct error *err)
{
	static const struct opengl_shader shaders[] = {{GL_COMPUTE_SHADER, work_shader}, {0, NULL}};
	struct computation *c = work;
	c->program = opengl_build(c->gl, shaders, c->report);
	return opengl_result(c->gl, err);
}

static int create_memory(void *work, struct error *err)
{
	struct computation *c = work;
	GLint64 largest = INT64_MAX;

	OPENGL_CALL(c->gl, glGetInteger64v, GL_MAX_SHADER_STORAGE_BLOCK_SIZE, &largest);
	if (c->array_size > largest)
		return error_set(err, ERROR_UNSUPPORTED,
				 "%zu elements do not fit a storage block of %lld bytes",
				 c->request->elements, (long long)largest);
	OPENGL_CALL(c->gl, glGenBuffers, WORK_ARRAYS, c->buffers);
	work_data_new(&c->data, c->request);
	return opengl_result(c->gl, err);
}

/* Makes the storage: with the input, or uninitialised. */
static int store(struct computation *c, bool input, struct error *err)
{
	for (GLuint i = 0; i < WORK_ARRAYS; i++) {
		OPENGL_CALL(c->gl, glBindBufferBase, GL_SHADER_STORAGE_BUFFER, i, c->buffers[i]);
		OPENGL_CALL(c->gl, glBufferData, GL_SHADER_STORAGE_BUFFER, c->array_size,
			    input ? c->data.arrays[i] : NULL, GL_DYNAMIC_COPY);
	}
	opengl_wait(c->gl, c->request->timeout_ms);
	return opengl_result(c->gl, err);
}

static int upload(void *work, struct error *err)
{
	struct computation *c = work;
	int rc = store(c, true, err);
	if (rc == 0)
		work_overwrite(&c->data);
	return rc;
}

static int dispatch(void *work, struct error *err)
{
	struct computation *c = work;
	const struct work_parameters parameters = work_parameters(c->request);
	OPENGL_CALL(c->gl, glUseProgram, c->program);
	OPENGL_CALL(c->gl, glUniform1ui, 0, parameters.elements);
	OPENGL_CALL(c->gl, glUniform1ui, 1, parameters.key);
	OPENGL_CALL(c->gl, glUniform1f, 2, parameters.scale);
	OPENGL_CALL(c->gl, glDispatchCompute, parameters.stride / WORK_GROUP,
		    work_groups_y(c->request), work_groups_z(c->request));
	OPENGL_CALL(c->gl, glMemoryBarrier, GL_BUFFER_UPDATE_BARRIER_BIT);
	opengl_wait(c->gl, c->request->timeout_ms);
	return opengl_result(c->gl, err);
}

static int download(void *work, struct error *err)
{
	struct computation *c = work;
	struct opengl *gl = c->gl;

	for (size_t i = 0; i < WORK_ARRAYS; i++) {
		const void *mapped = NULL;
		if (OPENGL_CALL(gl, glBindBuffer, GL_SHADER_STORAGE_BUFFER, c->buffers[i])) {
			mapped = gl->glMapBufferRange(GL_SHADER_STORAGE_BUFFER, 0, c->array_size,
						      GL_MAP_READ_BIT);
			opengl_check(gl, "glMapBufferRange");
		}
		if (gl->error.code != 0)
			return opengl_result(gl, err);
		if (mapped == NULL)
			return error_set(err, ERROR_REMOTE, "glMapBufferRange returned no address");
		memcpy(c->data.arrays[i], mapped, (size_t)c->array_size);
		if (gl->glUnmapBuffer(GL_SHADER_STORAGE_BUFFER) == GL_FALSE)
			return error_set(err, ERROR_REMOTE,
					 "glUnmapBuffer: the contents of the buffer were lost");
	}
	return 0;
}

static int look(void *work, struct error *err)
{
	int rc = store(work, false, err);
	if (rc == 0)
		rc = download(work, err);
	return rc;
}

static int render(void *work, struct error *err)
{
	static const struct opengl_shader shaders[] = {{GL_VERTEX_SHADER, triangle_vertex},
						       {GL_FRAGMENT_SHADER, triangle_pixel},
						       {0, NULL}};
	struct computation *c = work;
	struct opengl *gl = c->gl;
	const GLuint program = opengl_build(gl, shaders, c->report);

	/* A picture that only the framebuffer object shows, and no vertices: the shader has them. */
	GLuint vertices = 0, buffer = 0, frame = 0;
	OPENGL_CALL(gl, glGenVertexArrays, 1, &vertices);
	OPENGL_CALL(gl, glBindVertexArray, vertices);
	OPENGL_CALL(gl, glGenRenderbuffers, 1, &buffer);
	OPENGL_CALL(gl, glBindRenderbuffer, GL_RENDERBUFFER, buffer);
	OPENGL_CALL(gl, glRenderbufferStorage, GL_RENDERBUFFER, GL_RGBA8, RENDER_SIZE, RENDER_SIZE);
	OPENGL_CALL(gl, glGenFramebuffers, 1, &frame);
	OPENGL_CALL(gl, glBindFramebuffer, GL_FRAMEBUFFER, frame);
	if (OPENGL_CALL(gl, glFramebufferRenderbuffer, GL_FRAMEBUFFER, GL_COLOR_ATTACHMENT0,
			GL_RENDERBUFFER, buffer)) {
		const GLenum status = gl->glCheckFramebufferStatus(GL_FRAMEBUFFER);
		if (status != GL_FRAMEBUFFER_COMPLETE)
			opengl_failed(gl, "glCheckFramebufferStatus", (int)status);
	}

	const uint32_t seed = c->request->seed;
	const struct render_colour_float triangle = render_colour_float(render_triangle(seed));
	const struct render_colour_float background = render_colour_float(render_background(seed));
	const float *channels = background.channels;
	OPENGL_CALL(gl, glDisable, GL_DITHER);
	OPENGL_CALL(gl, glViewport, 0, 0, RENDER_SIZE, RENDER_SIZE);
	OPENGL_CALL(gl, glClearColor, channels[0], channels[1], channels[2], channels[3]);
	OPENGL_CALL(gl, glClear, GL_COLOR_BUFFER_BIT);
	OPENGL_CALL(gl, glUseProgram, program);
	OPENGL_CALL(gl, glUniform4fv, 0, 1, triangle.channels);
	OPENGL_CALL(gl, glDrawArrays, GL_TRIANGLES, 0, 3);
	opengl_wait(gl, c->request->timeout_ms);

	uint8_t pixels[RENDER_SIZE * RENDER_SIZE * RENDER_PIXEL];
	memset(pixels, 0xA5, sizeof(pixels));
	if (OPENGL_CALL(gl, glReadPixels, 0, 0, RENDER_SIZE, RENDER_SIZE, GL_RGBA, GL_UNSIGNED_BYTE,
			pixels))
		work_compare_picture(c->report, pixels, (size_t)RENDER_SIZE * RENDER_PIXEL);
	return opengl_result(gl, err);
}

int opengl_work(void *session, const struct work_request *request, struct work_report *report,
		struct error *err)
{
	static work_step *const steps[WORK_STAGE_COUNT] = {
		[WORK_STAGE_DEVICE] = open_device,   [WORK_STAGE_BUILD] = build,
		[WORK_STAGE_MEMORY] = create_memory, [WORK_STAGE_UPLOAD] = upload,
		[WORK_STAGE_DISPATCH] = dispatch,    [WORK_STAGE_DOWNLOAD] = download,
		[WORK_STAGE_RENDER] = render,	     [WORK_STAGE_LOOK] = look,
	};
	struct opengl *gl = session;
	struct computation c = {
		.gl = gl,
		.request = request,
		.report = report,
		.array_size = (GLsizeiptr)work_array_size(request),
	};
	int rc = work_run(steps, &c, &c.data, report, err);
	report->failure = gl->failure;
	work_data_free(&c.data);
	if (rc != ERROR_TIMEOUT)
		opengl_platform_end(gl);
	return rc;
}
