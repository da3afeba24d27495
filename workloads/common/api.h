/* SPDX-License-Identifier: MIT */
#pragma once

/* What one API told about itself and its devices: the members `api`, `platforms` and `devices` of a
 * document (workloads/schema/probe.schema.json). */

#include "base/error.h"
#include "base/members.h"
#include "base/text.h"

#include <cjson/cJSON.h>
#include <stdint.h>

enum {
	API_MESSAGES_MAX = 16,	    /* kept of what a loader says */
	API_MESSAGE_SIZE_MAX = 512, /* bytes kept of one message */
	API_DEVICES_MAX = 256, /* devices described; a driver that tells more is not believed */
};

enum api_status {
	API_OK,		 /* it answered; there may be no device all the same */
	API_UNSUPPORTED, /* its loader or every driver is missing: `missing` */
	API_FAILED,	 /* it is there and a call failed: `reason` */
};

struct api_report {
	const char *name; /* "vulkan" */
	enum api_status status;
	char reason[ERROR_TEXT_SIZE]; /* "" with API_OK */
	const char *missing;	      /* "libvulkan.so.1", "Vulkan driver"; NULL if nothing is */
	const char *library;	      /* soname that was asked for */
	char path[1024];	      /* where it was found; "" if it was not */
	char file_version[64];	      /* that the file states; "" if it states none */
	char version[64];  /* of the loader or the API as the loader tells it; "" if unknown */
	char emulator[32]; /* what stands in for Windows: "Wine 10.0"; "" otherwise */
	struct text_list messages; /* warnings and errors of loader and drivers */
	cJSON *platforms;	   /* array; NULL for APIs that have none */
	cJSON *devices;		   /* array; never NULL after api_report_begin() */
	uint64_t open_ns;	   /* from loading the library to the last device */
};

#define CLEANUP_API_REPORT __attribute__((cleanup(api_report_free)))

int api_report_begin(struct api_report *report, const char *name, const char *library,
		     struct error *err);
void api_report_free(struct api_report *report);

/* The library is there: tells where it was found. */
void api_report_loaded(struct api_report *report, void *library);

/* The API is not there; `missing` is a literal. */
void api_report_unsupported(struct api_report *report, const char *missing,
			    const struct error *reason);
void api_report_failed(struct api_report *report, const struct error *reason);

/* Keeps a message; beyond the bounds it is cut or dropped. Out of memory drops it too. */
void api_report_message(struct api_report *report, const char *message);

/* Adds `api`, `platforms` (when there are any) and `devices`; the two arrays are consumed. */
void api_report_members(struct api_report *report, struct members *members);
