/* SPDX-License-Identifier: MIT */
/* Only the methods that the probe calls exist. Samples and events are Media Foundation's own. */
#include "workloads/doubles/mft_double.h"

#include "workloads/doubles/h264_pcm.h"
#include "workloads/doubles/settings.h"

#include <string.h>
#include <wchar.h>

enum { IN_FLIGHT = 2, OUTPUTS = VIDEO_FRAMES, SIDE_MAX = 64 };

struct mft_settings mft_double;
unsigned mft_double_alive;

struct activate {
	IMFActivate object;
	ULONG references;
};

struct transform {
	IMFTransform object;
	IMFMediaEventGenerator events;
	ULONG references;
	IMFAttributes *attributes;
	IMFMediaEventQueue *queue;
	struct h264_pcm writer;
	struct text outputs[OUTPUTS];
	size_t first, count;
	unsigned wanted;
};

/* "key" or "key=N" is the fault. */
bool setting_has(const char *word)
{
	return mft_double.fault != NULL && strcmp(mft_double.fault, word) == 0;
}

size_t setting_number(const char *key, size_t otherwise)
{
	const size_t length = strlen(key);
	return mft_double.fault != NULL && strncmp(mft_double.fault, key, length) == 0 &&
			       mft_double.fault[length] == '='
		       ? strtoul(mft_double.fault + length + 1, NULL, 10)
		       : otherwise;
}

static struct transform *of_events(IMFMediaEventGenerator *events)
{
	return (struct transform *)(void *)((char *)events - offsetof(struct transform, events));
}

static ULONG WINAPI transform_add_ref(IMFTransform *object)
{
	return ++((struct transform *)(void *)object)->references;
}

static ULONG WINAPI transform_release(IMFTransform *object)
{
	struct transform *t = (struct transform *)(void *)object;
	const ULONG left = --t->references;
	if (left > 0)
		return left;
	(void)IMFMediaEventQueue_Shutdown(t->queue);
	(void)IMFMediaEventQueue_Release(t->queue);
	(void)IMFAttributes_Release(t->attributes);
	for (size_t i = 0; i < OUTPUTS; i++)
		text_free(&t->outputs[i]);
	h264_pcm_free(&t->writer);
	free(t);
	mft_double_alive--;
	return 0;
}

static HRESULT WINAPI transform_query(IMFTransform *object, REFIID id, void **out)
{
	struct transform *t = (struct transform *)(void *)object;
	*out = NULL;
	if (IsEqualGUID(id, &IID_IMFMediaEventGenerator))
		*out = &t->events;
	else if (IsEqualGUID(id, &IID_IMFTransform) || IsEqualGUID(id, &IID_IUnknown))
		*out = &t->object;
	if (*out == NULL)
		return E_NOINTERFACE;
	(void)transform_add_ref(object);
	return S_OK;
}

/* Until then it refuses everything but its attributes. */
static bool is_locked(struct transform *t)
{
	UINT32 unlocked = FALSE;
	(void)IMFAttributes_GetUINT32(t->attributes, &MF_TRANSFORM_ASYNC_UNLOCK, &unlocked);
	return !unlocked;
}

static HRESULT WINAPI get_attributes(IMFTransform *object, IMFAttributes **out)
{
	*out = ((struct transform *)(void *)object)->attributes;
	(void)IMFAttributes_AddRef(*out);
	return S_OK;
}

static HRESULT WINAPI set_type(IMFTransform *object, DWORD stream, IMFMediaType *type, DWORD flags)
{
	struct transform *t = (struct transform *)(void *)object;
	UINT64 size = 0;
	(void)stream;
	(void)flags;
	if (is_locked(t))
		return MF_E_TRANSFORM_ASYNC_LOCKED;
	(void)IMFMediaType_GetUINT64(type, &MF_MT_FRAME_SIZE, &size);
	t->writer.source.width = (unsigned)(size >> 32);
	t->writer.source.height = (unsigned)size;
	return t->writer.source.width > SIDE_MAX ? MF_E_INVALIDMEDIATYPE : S_OK;
}

static HRESULT WINAPI set_output_type(IMFTransform *object, DWORD stream, IMFMediaType *type,
				      DWORD flags)
{
	const HRESULT result = set_type(object, stream, type, flags);
	return FAILED(result) || flags == MFT_SET_TYPE_TEST_ONLY ? result : mft_double.set_type;
}

static HRESULT WINAPI no_type(IMFTransform *object, DWORD stream, DWORD index, IMFMediaType **out)
{
	(void)object;
	(void)stream;
	(void)index;
	(void)out;
	return MF_E_NO_MORE_TYPES;
}

static HRESULT WINAPI get_output_info(IMFTransform *object, DWORD stream,
				      MFT_OUTPUT_STREAM_INFO *info)
{
	(void)object;
	(void)stream;
	*info = (MFT_OUTPUT_STREAM_INFO){.dwFlags = MFT_OUTPUT_STREAM_PROVIDES_SAMPLES};
	return S_OK;
}

static void send(struct transform *t, MediaEventType type)
{
	(void)IMFMediaEventQueue_QueueEventParamVar(t->queue, type, &GUID_NULL, mft_double.event,
						    NULL);
}

static void ask_for_frame(struct transform *t)
{
	if (mft_double.asks_for_none)
		return;
	t->wanted++;
	send(t, METransformNeedInput);
}

static HRESULT WINAPI process_message(IMFTransform *object, MFT_MESSAGE_TYPE message,
				      ULONG_PTR parameter)
{
	struct transform *t = (struct transform *)(void *)object;
	(void)parameter;
	if (is_locked(t))
		return MF_E_TRANSFORM_ASYNC_LOCKED;
	for (int i = 0; i < IN_FLIGHT && message == MFT_MESSAGE_NOTIFY_START_OF_STREAM; i++)
		ask_for_frame(t);
	if (message == MFT_MESSAGE_COMMAND_DRAIN)
		send(t, METransformDrainComplete);
	return S_OK;
}

static HRESULT WINAPI process_input(IMFTransform *object, DWORD stream, IMFSample *sample,
				    DWORD flags)
{
	struct transform *t = (struct transform *)(void *)object;
	IMFMediaBuffer *buffer = NULL;
	BYTE *memory = NULL;
	(void)stream;
	(void)flags;
	if (is_locked(t))
		return MF_E_TRANSFORM_ASYNC_LOCKED;
	if (t->wanted == 0 || t->count == OUTPUTS)
		return MF_E_NOTACCEPTING;
	t->wanted--;
	(void)IMFSample_ConvertToContiguousBuffer(sample, &buffer);
	(void)IMFMediaBuffer_Lock(buffer, &memory, NULL, NULL);
	const struct video_planes planes = video_planes_of(&t->writer.source, VIDEO_NV12, memory);
	h264_pcm_add(&t->writer, VIDEO_NV12, &planes, &t->outputs[t->count++]);
	(void)IMFMediaBuffer_Unlock(buffer);
	(void)IMFMediaBuffer_Release(buffer);
	send(t, METransformHaveOutput);
	ask_for_frame(t);
	return S_OK;
}

static HRESULT WINAPI process_output(IMFTransform *object, DWORD flags, DWORD count,
				     MFT_OUTPUT_DATA_BUFFER *buffers, DWORD *status)
{
	struct transform *t = (struct transform *)(void *)object;
	IMFMediaBuffer *buffer = NULL;
	BYTE *memory = NULL;
	(void)flags;
	(void)count;
	*status = 0;
	if (FAILED(mft_double.process))
		return mft_double.process;
	if (t->first == t->count)
		return E_UNEXPECTED; /* only after METransformHaveOutput */
	const struct text *output = &t->outputs[t->first++];
	(void)MFCreateSample(&buffers->pSample);
	(void)MFCreateMemoryBuffer((DWORD)output->size + 1, &buffer);
	(void)IMFMediaBuffer_Lock(buffer, &memory, NULL, NULL);
	memcpy(memory, text_string(output), output->size);
	(void)IMFMediaBuffer_Unlock(buffer);
	(void)IMFMediaBuffer_SetCurrentLength(buffer, (DWORD)output->size);
	(void)IMFSample_AddBuffer(buffers->pSample, buffer);
	(void)IMFMediaBuffer_Release(buffer);
	return S_OK;
}

static ULONG WINAPI events_add_ref(IMFMediaEventGenerator *events)
{
	return transform_add_ref(&of_events(events)->object);
}

static ULONG WINAPI events_release(IMFMediaEventGenerator *events)
{
	return transform_release(&of_events(events)->object);
}

static HRESULT WINAPI get_event(IMFMediaEventGenerator *events, DWORD flags, IMFMediaEvent **out)
{
	return IMFMediaEventQueue_GetEvent(of_events(events)->queue, flags, out);
}

static IMFTransformVtbl transform_table = {
	.QueryInterface = transform_query,
	.AddRef = transform_add_ref,
	.Release = transform_release,
	.GetAttributes = get_attributes,
	.GetInputAvailableType = no_type,
	.SetInputType = set_type,
	.SetOutputType = set_output_type,
	.GetOutputStreamInfo = get_output_info,
	.ProcessMessage = process_message,
	.ProcessInput = process_input,
	.ProcessOutput = process_output,
};

static IMFMediaEventGeneratorVtbl events_table = {
	.AddRef = events_add_ref,
	.Release = events_release,
	.GetEvent = get_event,
};

static HRESULT WINAPI activate_object(IMFActivate *object, REFIID id, void **out)
{
	struct transform *t = calloc(1, sizeof(*t));
	(void)object;
	(void)id;
	if (t == NULL || FAILED(mft_double.activate)) {
		free(t);
		return mft_double.activate;
	}
	t->object.lpVtbl = &transform_table;
	t->events.lpVtbl = &events_table;
	t->references = 1;
	(void)MFCreateAttributes(&t->attributes, 1);
	(void)MFCreateEventQueue(&t->queue);
	(void)IMFAttributes_SetUINT32(t->attributes, &MF_TRANSFORM_ASYNC, TRUE);
	*out = &t->object;
	mft_double_alive++;
	return S_OK;
}

static HRESULT WINAPI shutdown_object(IMFActivate *object)
{
	(void)object;
	return S_OK;
}

static const WCHAR *text_of(const GUID *key)
{
	static const GUID vendor = {
		0x3aecb0cc, 0x035b, 0x4bcc, {0x81, 0x85, 0x2b, 0x8d, 0x55, 0x1e, 0xf3, 0xaf}};
	if (IsEqualGUID(key, &MFT_ENUM_HARDWARE_URL_Attribute))
		return mft_double.hardware ? L"AMD#1" : NULL;
	if (IsEqualGUID(key, &MFT_FRIENDLY_NAME_Attribute))
		return L"gpucert double";
	return IsEqualGUID(key, &vendor) ? mft_double.vendor : NULL;
}

static HRESULT WINAPI get_string_length(IMFActivate *object, REFGUID key, UINT32 *length)
{
	const WCHAR *text = text_of(key);
	(void)object;
	*length = text != NULL ? (UINT32)wcslen(text) : 0;
	return text != NULL ? S_OK : MF_E_ATTRIBUTENOTFOUND;
}

static HRESULT WINAPI get_string(IMFActivate *object, REFGUID key, WCHAR *out, UINT32 size,
				 UINT32 *length)
{
	const HRESULT result = get_string_length(object, key, length);
	if (SUCCEEDED(result) && *length < size)
		memcpy(out, text_of(key), (*length + 1) * sizeof(*out));
	return result;
}

static ULONG WINAPI activate_release(IMFActivate *object)
{
	struct activate *a = (struct activate *)(void *)object;
	const ULONG left = --a->references;
	if (left == 0) {
		free(a);
		mft_double_alive--;
	}
	return left;
}

static IMFActivateVtbl activate_table = {
	.Release = activate_release,
	.GetStringLength = get_string_length,
	.GetString = get_string,
	.ActivateObject = activate_object,
	.ShutdownObject = shutdown_object,
};

HRESULT WINAPI mft_double_enumerate(GUID category, UINT32 flags,
				    const MFT_REGISTER_TYPE_INFO *input,
				    const MFT_REGISTER_TYPE_INFO *output, IMFActivate ***activates,
				    UINT32 *count)
{
	const bool asked = ((flags & MFT_ENUM_FLAG_HARDWARE) != 0) == mft_double.hardware &&
			   IsEqualGUID(&output->guidSubtype, &MFVideoFormat_H264);
	struct activate *a = asked ? calloc(1, sizeof(*a)) : NULL;
	(void)category;
	(void)input;
	*count = 0;
	*activates = a != NULL ? CoTaskMemAlloc(sizeof(**activates)) : NULL;
	if (a == NULL || *activates == NULL)
		return S_OK;
	*a = (struct activate){{&activate_table}, 1};
	(*activates)[0] = &a->object;
	*count = 1;
	mft_double_alive++;
	return S_OK;
}
