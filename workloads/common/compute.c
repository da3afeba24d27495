/* SPDX-License-Identifier: MIT */
#include "workloads/common/compute.h"

#include <string.h>

size_t compute_argument_size(size_t index)
{
	return index < WORK_ARRAYS ? sizeof(void *) : WORK_ELEMENT_SIZE;
}

static int create_memory(void *work, struct error *err)
{
	struct compute *c = work;
	const size_t array_size = work_array_size(c->request);

	if (c->largest != 0 && array_size > c->largest)
		return error_set(err, ERROR_UNSUPPORTED,
				 "%zu elements do not fit an allocation of %llu bytes",
				 c->request->elements, (unsigned long long)c->largest);

	for (size_t i = 0; i < c->buffer_count; i++) {
		struct compute_buffer *buffer = &c->buffers[i];
		buffer->size = array_size;
		if (i >= WORK_ARRAYS)
			buffer->size = (work_array_find(c->calls->extra)->elements + WORK_GUARD) *
				       WORK_ELEMENT_SIZE;
		int rc = c->calls->allocate(c, buffer, err);
		if (rc != 0)
			return rc;
		if (buffer->device == NULL || buffer->host == NULL)
			return error_set(err, ERROR_REMOTE, "%s reported success and no address",
					 c->calls->allocators[buffer->device == NULL ? 0 : 1]);
	}

	for (size_t i = 0; i < WORK_ARRAYS; i++)
		c->data.arrays[i] = c->buffers[i].host;
	work_fill(&c->data);
	return 0;
}

static int finish(struct compute *c, struct error *err)
{
	int rc = c->calls->submit != NULL ? c->calls->submit(c, err) : 0;
	if (rc != 0)
		return rc;
	return work_wait(c->request, c->calls->is_complete, c, err);
}

/* After sending, so that only results of the device are read back. */
static void overwrite(struct compute *c)
{
	for (size_t i = 0; i < c->buffer_count; i++)
		memset(c->buffers[i].host, 0xA5, c->buffers[i].size);
}

/* Copies all buffers and measures how fast. */
static int copy_all(struct compute *c, bool to_device, double *bytes_per_s, struct error *err)
{
	const struct compute_calls *calls = c->calls;
	float milliseconds = 0;
	double bytes = 0;
	int rc = calls->mark != NULL ? calls->mark(c, false, err) : 0;

	for (size_t i = 0; rc == 0 && i < c->buffer_count; i++) {
		bytes += (double)c->buffers[i].size;
		rc = calls->copy(c, &c->buffers[i], to_device, err);
	}
	if (rc == 0 && calls->mark != NULL)
		rc = calls->mark(c, true, err);
	if (rc == 0)
		rc = finish(c, err);
	if (rc == 0 && calls->elapsed != NULL)
		rc = calls->elapsed(c, &milliseconds, err);
	if (rc == 0 && milliseconds > 0)
		*bytes_per_s = bytes * 1000 / (double)milliseconds;
	return rc;
}

static int upload(void *work, struct error *err)
{
	struct compute *c = work;
	const struct compute_buffer *values = &c->buffers[WORK_VALUES];
	int rc = 0;

	/* Fill one array by the API's command and read it back. */
	if (c->calls->fill != NULL) {
		const uint32_t pattern = work_fill_pattern(c->request->seed);
		rc = c->calls->copy(c, values, true, err);
		if (rc == 0)
			rc = c->calls->fill(c, values, &pattern, err);
		if (rc == 0)
			rc = finish(c, err);
		if (rc != 0)
			return rc;
		overwrite(c);
		rc = c->calls->copy(c, values, false, err);
		if (rc == 0)
			rc = finish(c, err);
		if (rc != 0)
			return rc;
		work_compare(c->report, "fill", values->host);
		work_fill(&c->data);
	}

	for (size_t i = WORK_ARRAYS; i < c->buffer_count; i++) {
		uint32_t *extra = c->buffers[i].host;
		for (size_t k = 0; k < c->buffers[i].size / WORK_ELEMENT_SIZE; k++)
			extra[k] = work_input_value(c->request->seed, k);
	}
	rc = copy_all(c, true, &c->uploaded_per_s, err);
	if (rc == 0)
		overwrite(c);
	return rc;
}

static int dispatch(void *work, struct error *err)
{
	struct compute *c = work;
	void *arguments[COMPUTE_ARGUMENTS] = {
		&c->buffers[WORK_VALUES].device,
		&c->buffers[WORK_X].device,
		&c->buffers[WORK_Y].device,
		&c->parameters.elements,
		&c->parameters.key,
		&c->parameters.scale,
	};

	int rc = c->calls->launch(c, arguments, err);
	if (rc != 0)
		return rc;
	return finish(c, err);
}

static int download(void *work, struct error *err)
{
	struct compute *c = work;
	return copy_all(c, false, &c->downloaded_per_s, err);
}

static int verify(void *work, struct error *err)
{
	struct compute *c = work;
	work_verify(&c->data, c->report);
	if (c->calls->extra != NULL) {
		work_compare(c->report, c->calls->extra, c->buffers[WORK_ARRAYS].host);
		work_judge(c->report);
	}
	return c->calls->verify != NULL ? c->calls->verify(c, err) : 0;
}

int compute_work(struct compute *work, const struct compute_calls *calls, struct calls *session,
		 const struct work_request *request, struct work_report *report, struct error *err)
{
	work_step *const steps[WORK_STAGE_COUNT] = {
		[WORK_STAGE_DEVICE] = calls->open,   [WORK_STAGE_BUILD] = calls->build,
		[WORK_STAGE_MEMORY] = create_memory, [WORK_STAGE_LOOK] = download,
		[WORK_STAGE_UPLOAD] = upload,	     [WORK_STAGE_DISPATCH] = dispatch,
		[WORK_STAGE_DOWNLOAD] = download,    [WORK_STAGE_VERIFY] = verify,
	};
	work->calls = calls;
	work->request = request;
	work->report = report;
	work->parameters = work_parameters(request);
	work->buffer_count = calls->extra != NULL ? COMPUTE_BUFFERS_MAX : WORK_ARRAYS;
	work->data = (struct work_data){.elements = request->elements, .seed = request->seed};
	session->failure = (struct call_failure){0};
	int rc = work_run(steps, work, &work->data, report, err);
	report->failure = session->failure;
	if (rc == ERROR_TIMEOUT)
		return rc;
	for (size_t i = 0; i < work->buffer_count; i++)
		calls->free(work, &work->buffers[i]);
	calls->release(work);
	return rc;
}
