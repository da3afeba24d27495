/* SPDX-License-Identifier: MIT */
#pragma once

/* An API as probes use it, and what it reports about itself and its devices: the members `api`,
 * `platforms` and `devices` of a document (workloads/schema/probe.schema.json).
 *
 * This folder holds the parts that all probes share: the API (here), the work and its verification
 * (work.h, reference.h, render.h) and the program around them (program.h). */

#include "base/error.h"
#include "base/members.h"
#include "base/text.h"

#include <cjson/cJSON.h>
#include <stdbool.h>
#include <stdint.h>

enum {
	API_MESSAGES_MAX = 16,	    /* messages of a loader that are kept */
	API_MESSAGE_SIZE_MAX = 512, /* bytes kept of one message */
	API_DEVICES_MAX = 256, /* devices described; a driver that reports more is not believed */
};

struct api_report;
struct work_report;
struct work_request;

/* The name of a library on this system. */
#ifdef _WIN32
#define API_LIBRARY(windows, posix) windows
#else
#define API_LIBRARY(windows, posix) posix
#endif

/* An API, which its folder in workloads/ defines as NAME_api. */
struct api_driver {
	const char *name;	 /* of its row in base/gpu_apis.def: "vulkan" */
	const char *library;	 /* that it opens: "libvulkan.so.1" */
	const char *summary;	 /* for --help: one line */
	const char *description; /* for --help: what the probe does, whole sentences */
	size_t session_size;	 /* bytes of a session, the state between open and close */
	/* Loads, enumerates, and fills the report and the session, which is zeroed.
	 * ERROR_NOT_FOUND, ERROR_UNSUPPORTED: report->missing, or else `library`, is not installed;
	 * any other error: it is installed and does not work. */
	int (*open)(struct api_report *report, void *session, struct error *err);
	/* Works on one device of the report; NULL for an API that only enumerates. ERROR_TIMEOUT:
	 * the device did not finish, and nothing was released; ERROR_UNSUPPORTED: the device cannot
	 * do it; any other error: a call failed, report->failure when that is known. */
	int (*work)(void *session, const struct work_request *request, struct work_report *report,
		    struct error *err);
	/* Releases what `open` made, also when that failed half-way; NULL: nothing. Not called
	 * after work that ended with ERROR_TIMEOUT: the device may still use the driver's objects,
	 * so the process ends without releasing them or running exit handlers. */
	void (*close)(void *session);
};

/* vulkan_api, opencl_api, ...: declared on every system, also where they are not built. */
#define API(name, ...)		     extern const struct api_driver name##_api;
#define API_WITHOUT_CHECK(name, ...) extern const struct api_driver name##_api;
#include "base/gpu_apis.def"

enum api_status {
	API_OK,		 /* it answered, perhaps without a device */
	API_UNSUPPORTED, /* its loader or every driver is missing: `missing` */
	API_FAILED,	 /* it is installed and a call failed: `reason` */
};

struct api_report {
	const struct api_driver *api;
	enum api_status status;
	char reason[ERROR_TEXT_SIZE]; /* "" with API_OK */
	const char *missing;	      /* "libvulkan.so.1", "Vulkan driver"; NULL if nothing is */
	char path[1024];	      /* where the library was found; "" if it was not */
	char file_version[64];	      /* that the file states; "" if it states none */
	char version[64];  /* of the loader or the API as the loader reports it; "" if unknown */
	char emulator[32]; /* "Wine 10.0" where that emulates Windows; "" otherwise */
	struct text_list messages; /* warnings and errors of loader and drivers */
	cJSON *platforms;	   /* array; NULL for APIs that have none */
	cJSON *devices;		   /* array */
	uint64_t open_ns;	   /* from loading the library to the last device */
};

#define CLEANUP_API_REPORT __attribute__((cleanup(api_report_free)))

/* Opens the API and reports how that went; *session is NULL where that failed. */
void api_open(const struct api_driver *api, struct api_report *report, void **session);

/* Closes and frees a session. NULL: nothing. */
void api_close(const struct api_driver *api, void *session);

/* For the `open` of an API whose devices another one enumerates: opens `list`, which fills `devices`.
 * The version in the report stays. Errors as for `open`. */
int api_open_devices(const struct api_driver *list, struct api_report *report, void **session,
		     struct error *err);

/* Index of the first device that is hardware, which loaders list among software; 0 where none is. */
size_t api_preferred_device(const struct api_report *report);

/* Does the work on one of `devices` devices and reports how that went. */
void api_work(const struct api_driver *api, void *session, size_t devices,
	      const struct work_request *request, struct work_report *report);

/* A report about an API that could not be asked. */
void api_report_failed(const struct api_driver *api, const struct error *reason,
		       struct api_report *report);
void api_report_free(struct api_report *report);

/* A function of a library, and where its address goes. */
struct api_function {
	const char *name;
	void *pointer; /* to the function pointer */
};

/* Opens a library and finds functions, up to one without a name. The first library that a report
 * (NULL: none) sees is the API's own, whose path and version it keeps. ERROR_NOT_FOUND: there is no
 * such library. ERROR_UNAVAILABLE: it cannot be loaded, or lacks a function. */
int api_load(struct api_report *report, const char *library, const struct api_function *functions,
	     struct error *err);

/* The same for one function. */
int api_load_one(struct api_report *report, const char *library, const char *name, void *pointer,
		 struct error *err);

/* Finds a function that a library may lack. False: it does, and `pointer` is as it was. */
bool api_find(const char *library, const char *name, void *pointer);

/* Keeps a message; beyond the bounds it is cut or dropped. */
void api_report_message(struct api_report *report, const char *message);

/* An element of `devices`, which begins with its index. */
struct members api_device_new(size_t index);

/* For an element of `devices`: {"vendorId": "0x10de", "deviceId": "0x2684"}. */
void api_add_ids(struct members *device, unsigned vendor_id, unsigned device_id);

enum { API_PCI_UNKNOWN = -1 }; /* as a number of an address: the driver does not report it */

/* For an element of `devices`: {"pciAddress": "0000:3b:00.0"}; "3b:00.0" where the domain is unknown, and
 * nothing where another number is. */
void api_add_pci_address(struct members *device, unsigned domain, unsigned bus, unsigned slot,
			 unsigned function);

/* A device node by its numbers, where they are known. */
struct api_node {
	bool known;
	int64_t major, minor;
};

/* For an element of `devices`: {"drm": {"primary": null, "render": "226:128"}}. */
void api_add_drm(struct members *device, struct api_node primary, struct api_node render);

/* For an element of `devices`: {"driver": {"version": ...}}; NULL for an unknown version. */
void api_add_driver(struct members *device, const char *version);
/* The version as Windows codes it: four times 16 bits. */
void api_add_windows_driver(struct members *device, bool known, uint64_t version);

/* Adds an element to `devices`, which it consumes. Members that every element has and this one lacks
 * become null. Returns 0. */
void api_report_device(struct api_report *report, cJSON *device);

/* Adds `api`, `platforms` (when there are any) and `devices`; the two arrays are consumed. */
void api_report_members(struct api_report *report, struct members *members);
