/* SPDX-License-Identifier: MIT */
#include "workloads/common/render.h"

#include "workloads/opengl/opengl.h"
#include "workloads/opengl/triangle_pixel.h"  /* generated from triangle.frag */
#include "workloads/opengl/triangle_vertex.h" /* generated from triangle.vert */

#include <string.h>

/* A picture that nothing but the framebuffer object shows, and no vertices: the shader has them. */
static int create_memory(struct opengl *gl, struct error *err)
{
	GLuint names[3] = {0};
	int rc = OPENGL_CALL(gl, err, glGenVertexArrays, 1, &names[0]);
	if (rc == 0)
		rc = OPENGL_CALL(gl, err, glBindVertexArray, names[0]);
	if (rc == 0)
		rc = OPENGL_CALL(gl, err, glGenRenderbuffers, 1, &names[1]);
	if (rc == 0)
		rc = OPENGL_CALL(gl, err, glBindRenderbuffer, GL_RENDERBUFFER, names[1]);
	if (rc == 0)
		rc = OPENGL_CALL(gl, err, glRenderbufferStorage, GL_RENDERBUFFER, GL_RGBA8,
				 RENDER_SIZE, RENDER_SIZE);
	if (rc == 0)
		rc = OPENGL_CALL(gl, err, glGenFramebuffers, 1, &names[2]);
	if (rc == 0)
		rc = OPENGL_CALL(gl, err, glBindFramebuffer, GL_FRAMEBUFFER, names[2]);
	if (rc == 0)
		rc = OPENGL_CALL(gl, err, glFramebufferRenderbuffer, GL_FRAMEBUFFER,
				 GL_COLOR_ATTACHMENT0, GL_RENDERBUFFER, names[1]);
	if (rc != 0)
		return rc;
	GLenum status = gl->glCheckFramebufferStatus(GL_FRAMEBUFFER);
	return status == GL_FRAMEBUFFER_COMPLETE
		       ? 0
		       : call_failed(&gl->failure, "glCheckFramebufferStatus", (int)status, NULL,
				     err);
}

static int draw(struct opengl *gl, GLuint program, uint32_t seed, struct error *err)
{
	const struct render_colour_float triangle = render_colour_float(render_triangle(seed));
	const struct render_colour_float background = render_colour_float(render_background(seed));
	const float *channels = background.channels;
	gl->glDisable(GL_DITHER);
	gl->glViewport(0, 0, RENDER_SIZE, RENDER_SIZE);
	gl->glClearColor(channels[0], channels[1], channels[2], channels[3]);
	int rc = OPENGL_CALL(gl, err, glClear, GL_COLOR_BUFFER_BIT);
	if (rc == 0)
		rc = OPENGL_CALL(gl, err, glUseProgram, program);
	if (rc == 0)
		rc = OPENGL_CALL(gl, err, glUniform4fv, 0, 1, triangle.channels);
	if (rc == 0)
		rc = OPENGL_CALL(gl, err, glDrawArrays, GL_TRIANGLES, 0, 3);
	return rc;
}

int opengl_render(struct opengl *gl, const struct work_request *request, struct work_report *report,
		  struct error *err)
{
	static const struct opengl_shader shaders[] = {{GL_VERTEX_SHADER, triangle_vertex},
						       {GL_FRAGMENT_SHADER, triangle_pixel},
						       {0, NULL}};
	uint8_t pixels[RENDER_SIZE * RENDER_SIZE * RENDER_PIXEL];
	GLuint program = 0;
	int rc = opengl_build(gl, shaders, &program, report, err);
	if (rc == 0)
		rc = create_memory(gl, err);
	if (rc == 0)
		rc = draw(gl, program, request->seed, err);
	if (rc == 0)
		rc = opengl_wait(gl, request->timeout_ms, err);
	memset(pixels, 0xA5, sizeof(pixels));
	if (rc == 0)
		rc = OPENGL_CALL(gl, err, glReadPixels, 0, 0, RENDER_SIZE, RENDER_SIZE, GL_RGBA,
				 GL_UNSIGNED_BYTE, pixels);
	if (rc == 0)
		work_compare_picture(report, pixels, (size_t)RENDER_SIZE * RENDER_PIXEL);
	return rc;
}
