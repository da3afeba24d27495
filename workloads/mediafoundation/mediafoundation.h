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

/* The functions of mfplat.dll and of ole32.dll, which their headers declare. */
#define MEDIAFOUNDATION_MFPLAT(X)                                                                  \
	X(MFStartup)                                                                               \
	X(MFShutdown)                                                                              \
	X(MFTEnumEx)                                                                               \
	X(MFCreateAttributes)                                                                      \
	X(MFCreateMediaType)                                                                       \
	X(MFCreateSample)                                                                          \
	X(MFCreateMemoryBuffer)
#define MEDIAFOUNDATION_OLE32(X)                                                                   \
	X(CoInitializeEx)                                                                          \
	X(CoTaskMemFree)

#define MEDIAFOUNDATION_DECLARE(name) __typeof__(name) *name;

struct mediafoundation {
	MEDIAFOUNDATION_MFPLAT(MEDIAFOUNDATION_DECLARE)
	MEDIAFOUNDATION_OLE32(MEDIAFOUNDATION_DECLARE)
	/* Since Windows 10 1703; may be NULL. */
	HRESULT(WINAPI *MFTEnum2)
	(GUID category, UINT32 flags, const MFT_REGISTER_TYPE_INFO *input,
	 const MFT_REGISTER_TYPE_INFO *output, IMFAttributes *attributes, IMFActivate ***activates,
	 UINT32 *count);
	struct dxgi dxgi;
	bool started;
	IMFActivate *activates[VIDEO_OFFERS_MAX]; /* of the offers, by their ids */
	size_t count;
};

/* The media subtypes of the codecs' streams. */
extern const GUID *const mediafoundation_subtypes[VIDEO_CODECS];

/* hresult_check() of a method. */
#define MEDIAFOUNDATION_CALL(failure, err, interface, method, ...)                                 \
	hresult_check(interface##_##method(__VA_ARGS__), #interface "::" #method, failure, err)

/* The type of an encoder's input frames (MFVideoFormat_NV12), or of a codec's stream. The caller
 * releases *out, also when this fails. */
int mediafoundation_type(const struct mediafoundation *mf, const GUID *subtype,
			 const struct video_source *source, IMFMediaType **out, struct error *err);

/* Unlocks a hardware transform, which does nothing before its caller declares that it can work with
 * asynchronous transforms. *events is that of an asynchronous one. `failure` may be NULL. */
int mediafoundation_unlock(IMFTransform *transform, IMFMediaEventGenerator **events,
			   struct call_failure *failure, struct error *err);

/* Lists and activates the encoders of the requested adapter; releases them. */
int mediafoundation_list(void *session, const struct work_request *request,
			 struct video_offers *offers, struct error *err);
void mediafoundation_forget(void *session);

/* encoder.c */
extern const struct video_encoder mediafoundation_encoder;
