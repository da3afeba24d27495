/* SPDX-License-Identifier: MIT */
#pragma once

/* Media Foundation as the probe uses it. Shared by the files of this folder. */

#include "base/error.h"
#include "workloads/common/api.h"
#include "workloads/directx/directx.h"
#include "workloads/dxgi/dxgi.h"
#include "workloads/video/video.h"

#include <mfapi.h>
#include <mferror.h>
#include <mfidl.h>
#include <mfobjects.h>
#include <mftransform.h>

#include <stdbool.h>
#include <stddef.h>

#define MEDIAFOUNDATION_LIBRARY "mfplat.dll"

/* The functions of mfplat.dll and ole32.dll. */
struct mediafoundation_calls {
	HRESULT(WINAPI *startup)(ULONG version, DWORD flags);
	HRESULT(WINAPI *shutdown)(void);
	HRESULT(WINAPI *enumerate)
	(GUID category, UINT32 flags, const MFT_REGISTER_TYPE_INFO *input,
	 const MFT_REGISTER_TYPE_INFO *output, IMFActivate ***activates, UINT32 *count);
	/* MFTEnum2, since Windows 10 1703; NULL where there is none. */
	HRESULT(WINAPI *enumerate_of)
	(GUID category, UINT32 flags, const MFT_REGISTER_TYPE_INFO *input,
	 const MFT_REGISTER_TYPE_INFO *output, IMFAttributes *attributes, IMFActivate ***activates,
	 UINT32 *count);
	HRESULT(WINAPI *create_attributes)(IMFAttributes **attributes, UINT32 size);
	HRESULT(WINAPI *create_type)(IMFMediaType **type);
	HRESULT(WINAPI *create_sample)(IMFSample **sample);
	HRESULT(WINAPI *create_buffer)(DWORD size, IMFMediaBuffer **buffer);
	HRESULT(WINAPI *initialize)(void *reserved, DWORD flags);
	void(WINAPI *free_memory)(void *memory);
};

struct mediafoundation {
	struct mediafoundation_calls calls;
	struct dxgi *dxgi;
	IMFActivate *activates[VIDEO_OFFERS_MAX]; /* of the offers, by their ids */
	size_t count;
};

/* The subtype of a codec's streams. */
const GUID *mediafoundation_subtype(enum video_codec codec);

/* hresult_check() of a method. */
#define MEDIAFOUNDATION_CALL(failure, err, interface, method, ...)                                 \
	hresult_check(interface##_##method(__VA_ARGS__), #interface "::" #method, failure, err)

/* Types of streams and frames: the one that an encoder gives, and NV12 that it takes. Caller
 * releases *out, also when this fails. */
int mediafoundation_output_type(const struct mediafoundation *mf, enum video_codec codec,
				const struct video_source *source, IMFMediaType **out,
				struct error *err);
int mediafoundation_input_type(const struct mediafoundation *mf, const struct video_source *source,
			       IMFMediaType **out, struct error *err);

/* A transform in hardware does nothing before it is told that its caller knows how to work with one
 * that is asynchronous. `failure` may be NULL. */
int mediafoundation_unlock(IMFTransform *transform, bool *asynchronous,
			   struct call_failure *failure, struct error *err);

/* offers.c: lists and activates the encoders of the requested adapter. */
int mediafoundation_list(void *session, const struct work_request *request,
			 struct video_offers *offers, struct error *err);
void mediafoundation_forget(struct mediafoundation *mf);

/* encoder.c */
extern const struct video_encoder mediafoundation_encoder;
