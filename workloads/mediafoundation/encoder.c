/* SPDX-License-Identifier: MIT */
/* One stream by one transform. Hardware transforms are asynchronous: events announce when they need a
 * frame and when they have output; the others are polled. */
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
	unsigned needed, ready;		/* by events: frames that it needs, samples that it has */
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
	if (rc == 0 && asynchronous)
		rc = MEDIAFOUNDATION_CALL(failure, err, IMFTransform, QueryInterface, transform,
					  &IID_IMFMediaEventGenerator, (void **)events);
	return rc;
}

static int send_messages(struct encoder *e, MFT_MESSAGE_TYPE first, MFT_MESSAGE_TYPE second,
			 struct error *err)
{
	int rc = CALL(e, err, IMFTransform, ProcessMessage, e->transform, first, 0);
	if (rc == 0)
		rc = CALL(e, err, IMFTransform, ProcessMessage, e->transform, second, 0);
	return rc;
}

static int open_encoder(void *session, const struct video_job *job, void *encoder,
			struct error *err)
{
	struct encoder *e = encoder;
	IMFMediaType *input = NULL, *output = NULL;

	e->mf = session;
	e->job = job;
	e->activate = e->mf->activates[job->offer->id];
	int rc = CALL(e, err, IMFActivate, ActivateObject, e->activate, &IID_IMFTransform,
		      (void **)&e->transform);
	if (rc == 0)
		rc = mediafoundation_unlock(e->transform, &e->events, job->failure, err);
	/* The output first: an encoder accepts frames only for a stream that it knows. */
	if (rc == 0)
		rc = mediafoundation_type(e->mf, mediafoundation_subtypes[job->offer->codec],
					  &job->source, &output, err);
	if (rc == 0)
		rc = CALL(e, err, IMFTransform, SetOutputType, e->transform, STREAM, output, 0);
	if (rc == 0)
		rc = mediafoundation_type(e->mf, &MFVideoFormat_NV12, &job->source, &input, err);
	if (rc == 0)
		rc = CALL(e, err, IMFTransform, SetInputType, e->transform, STREAM, input, 0);
	com_release(input);
	com_release(output);
	if (rc == 0)
		rc = send_messages(e, MFT_MESSAGE_NOTIFY_BEGIN_STREAMING,
				   MFT_MESSAGE_NOTIFY_START_OF_STREAM, err);
	return rc;
}

/* Handles the pending events. */
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
		e->needed += type == METransformNeedInput;
		e->ready += type == METransformHaveOutput;
		e->drained = e->drained || type == METransformDrainComplete;
		rc = hresult_check(status, "an event of the encoder", e->job->failure, err);
		if (rc != 0)
			return rc;
	}
	return 0;
}

/* A sample of `size` bytes, a copy of those at `data` unless that is NULL. The caller releases *out,
 * also when this fails. */
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

static int put(void *encoder, unsigned index, const struct video_planes *frame, struct error *err)
{
	struct encoder *e = encoder;
	IMFSample *sample = NULL;

	int rc = take_events(e, err);
	if (rc != 0)
		return rc;
	e->draining = frame == NULL;
	if (e->draining)
		return send_messages(e, MFT_MESSAGE_NOTIFY_END_OF_STREAM, MFT_MESSAGE_COMMAND_DRAIN,
				     err);
	if (e->events != NULL && e->needed == 0)
		return error_set(err, ERROR_BUSY, "the encoder asks for no frame");

	rc = make_sample(e, frame->data[0], (DWORD)video_frame_size(&e->job->source), &sample, err);
	if (rc == 0) {
		(void)IMFSample_SetSampleTime(sample, (LONGLONG)index * FRAME_TICKS);
		(void)IMFSample_SetSampleDuration(sample, FRAME_TICKS);
		const HRESULT result = IMFTransform_ProcessInput(e->transform, STREAM, sample, 0);
		rc = result == MF_E_NOTACCEPTING
			     ? error_set(err, ERROR_BUSY, "the encoder accepts no frame now")
			     : hresult_check(result, "IMFTransform::ProcessInput", e->job->failure,
					     err);
	}
	com_release(sample);
	if (rc == 0 && e->events != NULL)
		e->needed--;
	return rc;
}

static int get_sample(struct encoder *e, struct text *stream, struct error *err)
{
	const DWORD frame = (DWORD)video_frame_size(&e->job->source);
	MFT_OUTPUT_STREAM_INFO info = {0};
	MFT_OUTPUT_DATA_BUFFER output = {.dwStreamID = STREAM};
	IMFMediaType *type = NULL;
	IMFMediaBuffer *buffer = NULL;
	BYTE *memory = NULL;
	DWORD status = 0, size = 0;

	int rc = CALL(e, err, IMFTransform, GetOutputStreamInfo, e->transform, STREAM, &info);
	const bool provides = (info.dwFlags & (MFT_OUTPUT_STREAM_PROVIDES_SAMPLES |
					       MFT_OUTPUT_STREAM_CAN_PROVIDE_SAMPLES)) != 0;
	if (rc == 0 && !provides)
		rc = make_sample(e, NULL, info.cbSize > frame ? info.cbSize : frame,
				 &output.pSample, err);
	if (rc == 0) {
		const HRESULT result =
			IMFTransform_ProcessOutput(e->transform, 0, 1, &output, &status);
		com_release(output.pEvents);
		if (result == MF_E_TRANSFORM_NEED_MORE_INPUT) {
			e->drained = e->drained || e->draining;
			rc = error_set(err, ERROR_BUSY, "the encoder needs another frame");
		} else if (result == MF_E_TRANSFORM_STREAM_CHANGE) {
			rc = CALL(e, err, IMFTransform, GetOutputAvailableType, e->transform,
				  STREAM, 0, &type);
			if (rc == 0)
				rc = CALL(e, err, IMFTransform, SetOutputType, e->transform, STREAM,
					  type, 0);
			com_release(type);
			if (rc == 0)
				rc = error_set(err, ERROR_BUSY, "the encoder changed its type");
		} else {
			rc = hresult_check(result, "IMFTransform::ProcessOutput", e->job->failure,
					   err);
		}
	}
	if (rc == 0 && output.pSample != NULL) {
		rc = CALL(e, err, IMFSample, ConvertToContiguousBuffer, output.pSample, &buffer);
		if (rc == 0)
			rc = CALL(e, err, IMFMediaBuffer, Lock, buffer, &memory, NULL, &size);
		if (rc == 0) {
			rc = video_append(stream, memory, size, "IMFMediaBuffer::Lock", err);
			(void)IMFMediaBuffer_Unlock(buffer);
		}
		com_release(buffer);
	}
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
	if (e->drained)
		return 0;
	return error_set(err, ERROR_BUSY, "the encoder has nothing yet");
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
