/* SPDX-License-Identifier: MIT */
#pragma once

/*
 * A Media Foundation transform that behaves like one in hardware: asynchronous, locked until its
 * caller declares that it can handle that, with a link to its device. It encodes with h264_pcm.h;
 * mft_double.fault selects the faults. For tests that run in the process of the probe's code.
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
	bool hardware;	     /* it reports a link to its device */
	const WCHAR *vendor; /* L"VEN_10DE"; NULL: not reported */
	HRESULT activate;    /* what ActivateObject() returns */
	HRESULT set_type;    /* what SetOutputType() returns once it is unlocked */
	HRESULT process;     /* what ProcessOutput() returns */
	HRESULT event;	     /* the status of its first event */
	bool asks_for_none;  /* it never requests a frame */
	const char *fault;   /* of h264_pcm.h: "drop=4" */
};

extern struct mft_settings mft_double;

/* The number of unreleased objects. */
extern unsigned mft_double_alive;

/* As MFTEnumEx() for H.264; nothing for other codecs, and with `flags` other than the double's. */
HRESULT WINAPI mft_double_enumerate(GUID category, UINT32 flags,
				    const MFT_REGISTER_TYPE_INFO *input,
				    const MFT_REGISTER_TYPE_INFO *output, IMFActivate ***activates,
				    UINT32 *count);
