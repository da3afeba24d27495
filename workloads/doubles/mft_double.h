/* SPDX-License-Identifier: MIT */
#pragma once

/*
 * A Media Foundation transform that encodes as one in hardware does: asynchronously, locked until its
 * caller says that it knows, with a link to its device. It encodes with h264_pcm.h, whose faults
 * follow from mft_double.fault. For tests that run in the process of the probe's own code.
 */

#ifndef COBJMACROS
#define COBJMACROS
#endif
#include <mfapi.h>
#include <mferror.h>
#include <mfidl.h>
#include <mfobjects.h>
#include <mftransform.h>

#include <stdbool.h>

struct mft_settings {
	bool hardware;	     /* it tells a link to its device */
	const WCHAR *vendor; /* L"VEN_10DE"; NULL: not told */
	HRESULT activate;    /* what ActivateObject() returns */
	HRESULT set_type;    /* what SetOutputType() returns once it is unlocked */
	HRESULT process;     /* what ProcessOutput() returns */
	HRESULT event;	     /* the status of its first event */
	bool asks_for_none;  /* it never asks for a frame */
	const char *fault;   /* of h264_pcm.h: "drop=4" */
};

extern struct mft_settings mft_double;

/* Objects that are not released yet. */
extern unsigned mft_double_alive;

/* As MFTEnumEx() for H.264; nothing for other codecs, and for other `flags` than the double's. */
HRESULT WINAPI mft_double_enumerate(GUID category, UINT32 flags,
				    const MFT_REGISTER_TYPE_INFO *input,
				    const MFT_REGISTER_TYPE_INFO *output, IMFActivate ***activates,
				    UINT32 *count);
