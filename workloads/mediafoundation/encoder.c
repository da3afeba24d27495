/* SPDX-License-Identifier: MIT */
/* One stream by one transform. Transforms in hardware are asynchronous: they say by events when they
 * take a frame and when they have something; the others are asked. */
#include "workloads/mediafoundation/mediafoundation.h"

#include <string.h>

enum {
	FRAME_TICKS = 10000000 / VIDEO_RATE, /* of 100 ns */
	STREAM = 0,
};

struct encoder {
	const struct mediafoundation *mf;
	const struct video_job *job;
	IMFActivate *activate;
	IMFTransform *transform;
	IMFMediaEventGenerator *events; /* NULL: synchronous */
	unsigned wanted, ready;		/* events: frames that it asks for, samples that it has */
	bool draining, drained;
};

#define CALL(e, err, interface, method, ...)                                                       \
	MEDIAFOUNDATION_CALL((e)->job->failure, err, interface, method, __VA_ARGS__)

int mediafoundation_unlock(IMFTransform *transform, IMFMediaEventGenerator **events,
			   struct call_failure *failure, struct error *err)
{
	IMFAttributes *attributes = NULL;
	UINT32 asynchronous = FALSE;
	int rc = 0;
	if (SUCCEEDED(IMFTransform_GetAttributes(transform, &attributes)) && attributes != NULL)
		(void)IMFAttributes_GetUINT32(attributes, &MF_TRANSFORM_ASYNC, &asynchronous);
	if (asynchronous)
		rc = MEDIAFOUNDATION_CALL(failure, err, IMFAttributes, SetUINT32, attributes,
					  &MF_TRANSFORM_ASYNC_UNLOCK, TRUE);
	com_release(attributes);
	return rc == 0 && asynchronous
		       ? MEDIAFOUNDATION_CALL(failure, err, IMFTransform, QueryInterface, transform,
					      &IID_IMFMediaEventGenerator, (void **)events)
		       : rc;
}

/* The output first: an encoder takes frames only for a stream that it knows. */
static int set_types(struct encoder *e, struct error *err)
{
	IMFMediaType *input = NULL, *output = NULL;
	int rc = mediafoundation_type(e->mf, mediafoundation_subtypes[e->job->offer->codec],
				      &e->job->source, &output, err);
	if (rc == 0)
		rc = CALL(e, err, IMFTransform, SetOutputType, e->transform, STREAM, output, 0);
	if (rc == 0)
		rc = mediafoundation_type(e->mf, &MFVideoFormat_NV12, &e->job->source, &input, err);
	if (rc == 0)
		rc = CALL(e, err, IMFTransform, SetInputType, e->transform, STREAM, input, 0);
	com_release(input);
	com_release(output);
	return rc;
}

/* Two messages, one after the other. */
static int tell(struct encoder *e, MFT_MESSAGE_TYPE first, MFT_MESSAGE_TYPE second,
		struct error *err)
{
	int rc = CALL(e, err, IMFTransform, ProcessMessage, e->transform, first, 0);
	return rc == 0 ? CALL(e, err, IMFTransform, ProcessMessage, e->transform, second, 0) : rc;
}

static int open_encoder(void *session, const struct video_job *job, void *encoder,
			struct error *err)
{
	struct encoder *e = encoder;
	e->mf = session;
	e->job = job;
	e->activate = e->mf->activates[job->offer->id];
	int rc = CALL(e, err, IMFActivate, ActivateObject, e->activate, &IID_IMFTransform,
		      (void **)&e->transform);
	if (rc == 0)
		rc = mediafoundation_unlock(e->transform, &e->events, job->failure, err);
	if (rc == 0)
		rc = set_types(e, err);
	return rc == 0 ? tell(e, MFT_MESSAGE_NOTIFY_BEGIN_STREAMING,
			      MFT_MESSAGE_NOTIFY_START_OF_STREAM, err)
		       : rc;
}

/* Takes the events that there are. */
static int take_events(struct encoder *e, struct error *err)
{
	while (e->events != NULL) {
		IMFMediaEvent *event = NULL;
		MediaEventType type = MEUnknown;
		HRESULT status = S_OK;
		const HRESULT result =
			IMFMediaEventGenerator_GetEvent(e->events, MF_EVENT_FLAG_NO_WAIT, &event);
		if (result == MF_E_NO_EVENTS_AVAILABLE)
			return 0;
		int rc = hresult_check(result, "IMFMediaEventGenerator::GetEvent", e->job->failure,
				       err);
		if (rc != 0)
			return rc;
		(void)IMFMediaEvent_GetType(event, &type);
		(void)IMFMediaEvent_GetStatus(event, &status);
		com_release(event);
		e->wanted += type == METransformNeedInput;
		e->ready += type == METransformHaveOutput;
		e->drained = e->drained || type == METransformDrainComplete;
		rc = hresult_check(status, "an event of the encoder", e->job->failure, err);
		if (rc != 0)
			return rc;
	}
	return 0;
}

/* A sample of `size` bytes, which are those at `data` unless that is NULL. Caller releases *out, also
 * when this fails. */
static int make_sample(struct encoder *e, const void *data, DWORD size, IMFSample **out,
		       struct error *err)
{
	IMFMediaBuffer *buffer = NULL;
	BYTE *memory = NULL;
	int rc = hresult_check(e->mf->MFCreateSample(out), "MFCreateSample", NULL, err);
	if (rc == 0)
		rc = hresult_check(e->mf->MFCreateMemoryBuffer(size, &buffer),
				   "MFCreateMemoryBuffer", NULL, err);
	if (rc == 0 && data != NULL)
		rc = CALL(e, err, IMFMediaBuffer, Lock, buffer, &memory, NULL, NULL);
	if (rc == 0 && data != NULL) {
		memcpy(memory, data, size);
		(void)IMFMediaBuffer_Unlock(buffer);
		rc = CALL(e, err, IMFMediaBuffer, SetCurrentLength, buffer, size);
	}
	if (rc == 0)
		rc = CALL(e, err, IMFSample, AddBuffer, *out, buffer);
	com_release(buffer);
	return rc;
}

static int put_frame(struct encoder *e, unsigned index, const uint8_t *frame, struct error *err)
{
	IMFSample *sample = NULL;
	int rc = make_sample(e, frame, (DWORD)video_frame_size(&e->job->source), &sample, err);
	if (rc == 0) {
		(void)IMFSample_SetSampleTime(sample, (LONGLONG)index * FRAME_TICKS);
		(void)IMFSample_SetSampleDuration(sample, FRAME_TICKS);
		const HRESULT result = IMFTransform_ProcessInput(e->transform, STREAM, sample, 0);
		rc = result == MF_E_NOTACCEPTING
			     ? error_set(err, ERROR_BUSY, "the encoder takes no frame now")
			     : hresult_check(result, "IMFTransform::ProcessInput", e->job->failure,
					     err);
	}
	com_release(sample);
	return rc;
}

static int put(void *encoder, unsigned index, const struct video_planes *frame, struct error *err)
{
	struct encoder *e = encoder;
	int rc = take_events(e, err);
	if (rc != 0)
		return rc;
	e->draining = frame == NULL;
	if (e->draining)
		return tell(e, MFT_MESSAGE_NOTIFY_END_OF_STREAM, MFT_MESSAGE_COMMAND_DRAIN, err);
	if (e->events != NULL && e->wanted == 0)
		return error_set(err, ERROR_BUSY, "the encoder asks for no frame");
	rc = put_frame(e, index, frame->data[0], err);
	if (rc == 0 && e->events != NULL)
		e->wanted--;
	return rc;
}

static int append(struct encoder *e, IMFSample *sample, struct text *stream, struct error *err)
{
	IMFMediaBuffer *buffer = NULL;
	BYTE *memory = NULL;
	DWORD size = 0;
	int rc = CALL(e, err, IMFSample, ConvertToContiguousBuffer, sample, &buffer);
	if (rc == 0)
		rc = CALL(e, err, IMFMediaBuffer, Lock, buffer, &memory, NULL, &size);
	if (rc == 0) {
		rc = video_append(stream, memory, size, "IMFMediaBuffer::Lock", err);
		(void)IMFMediaBuffer_Unlock(buffer);
	}
	com_release(buffer);
	return rc;
}

static int set_offered_type(struct encoder *e, struct error *err)
{
	IMFMediaType *type = NULL;
	int rc = CALL(e, err, IMFTransform, GetOutputAvailableType, e->transform, STREAM, 0, &type);
	if (rc == 0)
		rc = CALL(e, err, IMFTransform, SetOutputType, e->transform, STREAM, type, 0);
	com_release(type);
	return rc == 0 ? error_set(err, ERROR_BUSY, "the encoder changed its type") : rc;
}

static int process_output(struct encoder *e, MFT_OUTPUT_DATA_BUFFER *output, struct error *err)
{
	DWORD status = 0;
	const HRESULT result = IMFTransform_ProcessOutput(e->transform, 0, 1, output, &status);
	com_release(output->pEvents);
	e->drained = e->drained || (e->draining && result == MF_E_TRANSFORM_NEED_MORE_INPUT);
	if (result == MF_E_TRANSFORM_NEED_MORE_INPUT)
		return error_set(err, ERROR_BUSY, "the encoder wants another frame");
	if (result == MF_E_TRANSFORM_STREAM_CHANGE)
		return set_offered_type(e, err);
	return hresult_check(result, "IMFTransform::ProcessOutput", e->job->failure, err);
}

static int get_sample(struct encoder *e, struct text *stream, struct error *err)
{
	const DWORD frame = (DWORD)video_frame_size(&e->job->source);
	MFT_OUTPUT_STREAM_INFO info = {0};
	MFT_OUTPUT_DATA_BUFFER output = {.dwStreamID = STREAM};
	int rc = CALL(e, err, IMFTransform, GetOutputStreamInfo, e->transform, STREAM, &info);
	const bool provides = (info.dwFlags & (MFT_OUTPUT_STREAM_PROVIDES_SAMPLES |
					       MFT_OUTPUT_STREAM_CAN_PROVIDE_SAMPLES)) != 0;
	if (rc == 0 && !provides)
		rc = make_sample(e, NULL, info.cbSize > frame ? info.cbSize : frame,
				 &output.pSample, err);
	if (rc == 0)
		rc = process_output(e, &output, err);
	if (rc == 0 && output.pSample != NULL)
		rc = append(e, output.pSample, stream, err);
	com_release(output.pSample);
	return rc;
}

static int get(void *encoder, struct text *stream, bool *ended, struct error *err)
{
	struct encoder *e = encoder;
	int rc = take_events(e, err);
	if (rc != 0)
		return rc;
	if (e->events == NULL || e->ready > 0) {
		rc = get_sample(e, stream, err);
		if (rc == 0 && e->events != NULL)
			e->ready--;
		if (rc != ERROR_BUSY || e->events != NULL || !e->drained)
			return rc;
	}
	*ended = e->drained;
	return e->drained ? 0 : error_set(err, ERROR_BUSY, "the encoder has nothing yet");
}

static void close_encoder(void *encoder)
{
	struct encoder *e = encoder;
	com_release(e->events);
	com_release(e->transform);
	(void)IMFActivate_ShutdownObject(e->activate);
}

const struct video_encoder mediafoundation_encoder = {
	.layout = VIDEO_NV12,
	.list = mediafoundation_list,
	.size = sizeof(struct encoder),
	.open = open_encoder,
	.put = put,
	.get = get,
	.close = close_encoder,
	.end = mediafoundation_forget,
};
