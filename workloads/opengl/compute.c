/* SPDX-License-Identifier: MIT */
#include "workloads/opengl/opengl.h"
#include "workloads/opengl/work_shader.h" /* generated from work.comp */

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
	int rc = opengl_begin(c->gl, device, err);
	if (rc == 0 && c->gl->old)
		return error_set(err, ERROR_UNSUPPORTED,
				 "the device offers %s; the work needs OpenGL 4.3 or OpenGL ES 3.1",
				 device->version);
	if (rc == 0 && c->gl->absent != NULL)
		return error_set(err, ERROR_UNSUPPORTED, "the driver offers no %s", c->gl->absent);
	return rc;
}

static int build(void *work, struct error *err)
{
	static const struct opengl_shader shaders[] = {{GL_COMPUTE_SHADER, work_shader}, {0, NULL}};
	struct computation *c = work;
	return opengl_build(c->gl, shaders, &c->program, c->report, err);
}

static int create_memory(void *work, struct error *err)
{
	struct computation *c = work;
	GLint64 largest = 0;
	int rc = OPENGL_CALL(c->gl, err, glGetInteger64v, GL_MAX_SHADER_STORAGE_BLOCK_SIZE,
			     &largest);
	if (rc == 0 && c->array_size > largest)
		return error_set(err, ERROR_UNSUPPORTED,
				 "%zu elements do not fit a storage block of %lld bytes",
				 c->request->elements, (long long)largest);
	if (rc == 0)
		rc = OPENGL_CALL(c->gl, err, glGenBuffers, WORK_ARRAYS, c->buffers);
	return rc == 0 ? work_data_new(&c->data, c->request, err) : rc;
}

/* Makes the storage: with the input, or with whatever is there. */
static int store(struct computation *c, bool input, struct error *err)
{
	int rc = 0;
	for (GLuint i = 0; rc == 0 && i < WORK_ARRAYS; i++) {
		rc = OPENGL_CALL(c->gl, err, glBindBufferBase, GL_SHADER_STORAGE_BUFFER, i,
				 c->buffers[i]);
		if (rc == 0)
			rc = OPENGL_CALL(c->gl, err, glBufferData, GL_SHADER_STORAGE_BUFFER,
					 c->array_size, input ? c->data.arrays[i] : NULL,
					 GL_DYNAMIC_COPY);
	}
	return rc == 0 ? opengl_wait(c->gl, c->request->timeout_ms, err) : rc;
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
	struct opengl *gl = c->gl;
	const struct work_parameters parameters = work_parameters(c->request);
	int rc = OPENGL_CALL(gl, err, glUseProgram, c->program);
	if (rc == 0)
		rc = OPENGL_CALL(gl, err, glUniform1ui, 0, parameters.elements);
	if (rc == 0)
		rc = OPENGL_CALL(gl, err, glUniform1ui, 1, parameters.key);
	if (rc == 0)
		rc = OPENGL_CALL(gl, err, glUniform1f, 2, parameters.scale);
	if (rc == 0)
		rc = OPENGL_CALL(gl, err, glDispatchCompute, parameters.stride / WORK_GROUP,
				 work_groups_y(c->request), work_groups_z(c->request));
	if (rc == 0)
		rc = OPENGL_CALL(gl, err, glMemoryBarrier, GL_BUFFER_UPDATE_BARRIER_BIT);
	return rc == 0 ? opengl_wait(gl, c->request->timeout_ms, err) : rc;
}

static int download_array(struct computation *c, size_t array, struct error *err)
{
	struct opengl *gl = c->gl;
	int rc = OPENGL_CALL(gl, err, glBindBuffer, GL_SHADER_STORAGE_BUFFER, c->buffers[array]);
	if (rc != 0)
		return rc;
	const void *mapped =
		gl->glMapBufferRange(GL_SHADER_STORAGE_BUFFER, 0, c->array_size, GL_MAP_READ_BIT);
	rc = opengl_check(gl, "glMapBufferRange", err);
	if (rc != 0)
		return rc;
	if (mapped == NULL)
		return error_set(err, ERROR_REMOTE, "glMapBufferRange told no address");
	memcpy(c->data.arrays[array], mapped, (size_t)c->array_size);
	return gl->glUnmapBuffer(GL_SHADER_STORAGE_BUFFER) != GL_FALSE
		       ? 0
		       : error_set(err, ERROR_REMOTE,
				   "glUnmapBuffer: the contents of the buffer were lost");
}

static int download(void *work, struct error *err)
{
	int rc = 0;
	for (size_t i = 0; rc == 0 && i < WORK_ARRAYS; i++)
		rc = download_array(work, i, err);
	return rc;
}

static int look(void *work, struct error *err)
{
	int rc = store(work, false, err);
	return rc == 0 ? download(work, err) : rc;
}

static int render(void *work, struct error *err)
{
	struct computation *c = work;
	return opengl_render(c->gl, c->request, c->report, err);
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
	gl->failure = (struct call_failure){0};
	int rc = work_run(steps, &c, &c.data, report, err);
	report->failure = gl->failure;
	work_data_free(&c.data);
	if (rc != ERROR_TIMEOUT)
		opengl_platform_end(gl);
	return rc;
}
