/* SPDX-License-Identifier: MIT */
/*
 * What a Windows container gets: device strings, with the allocation "class" the variables that say which of all
 * adapters it should use, and the driver files that it lacks: those that the driver's registry keys name (CopyToVm*),
 * that the configuration adds, and the built-in tools. Each is mounted read-only under a bare name into System32, or
 * into SysWOW64 for 32-bit programs.
 */
#include "base/cleanup.h"
#include "base/file.h"
#include "base/windows_device.h"
#include "base/windows_path.h"
#include "discovery/filter.h"
#include "reference-plugin/answer/answer_internal.h"

#include <string.h>
#include <strings.h>

/* Who names a file, in order of precedence. */
enum origin { ORIGIN_REGISTRY, ORIGIN_CONFIGURATION, ORIGIN_BUILT_IN };

/* The rank of an item: its origin, and in the low bits its turn. */
enum { TURN_BITS = 32 };

/* Tools in the driver's directory that no registry key names. */
static const struct {
	const char *vendor;
	const char *source;
	const char *destination;
} built_in[] = {
	{"0x10de", "nvidia-smi.exe", WINDOWS_SYSTEM32 "\\nvidia-smi.exe"},
	{"0x10de", "vulkaninfo-x64.exe", WINDOWS_SYSTEM32 "\\vulkaninfo.exe"},
	{"0x10de", "vulkaninfo-x86.exe", WINDOWS_SYSWOW64 "\\vulkaninfo.exe"},
};

/* The items of one device. */
struct part {
	struct answer *answer;
	const struct answer_request *request;
	const struct discovery_device *device;
};

/* A missing source would become an empty directory in the container. */
static void add_file(const struct part *part, enum origin origin, const char *source,
		     const char *destination)
{
	struct answer *answer = part->answer;
	uint64_t rank = (uint64_t)origin << TURN_BITS | answer->count;
	if (part->request->recorded || file_exists(source))
		answer_add(answer, ANSWER_MOUNT, part->device, destination, source)->rank = rank;
	else if (origin != ORIGIN_BUILT_IN)
		answer_warn(answer, "device '%s': '%s' is not mounted at '%s': it does not exist",
			    part->device->id, source, destination);
}

/* Discovery has checked these files as well; but a mount from the node into a container is validated
 * where it is added, and recorded nodes are untrusted. */
static void add_registry_file(const struct part *part, const struct discovery_file *file)
{
	const char *store = part->device->driver_store_path;
	const bool wow64 = windows_path_is_in(file->destination, WINDOWS_SYSWOW64);
	const char *why = NULL;
	if (!wow64 && !windows_path_is_in(file->destination, WINDOWS_SYSTEM32))
		why = "its destination is not a file in System32 or SysWOW64";
	else if (wow64 && file->bits == 64)
		why = "64-bit files do not belong into SysWOW64";
	else if (!wow64 && file->bits == 32)
		why = "32-bit files do not belong into System32";
	else if (file->directory)
		why = "it is a directory";
	else if (!windows_path_is_absolute(file->source))
		why = "its source is not an absolute path without '..'";
	else if (store[0] != '\0' && !windows_path_is_within(file->source, store))
		why = "its source is not in the driver's directory";
	if (why == NULL)
		add_file(part, ORIGIN_REGISTRY, file->source, file->destination);
	else
		answer_warn(part->answer, "device '%s': '%s' is not mounted at '%s': %s",
			    part->device->id, file->source, file->destination, why);
}

/* A file that is named relative to the driver's directory, for devices of a vendor. */
static void add_store_file(const struct part *part, enum origin origin, const char *vendor,
			   const char *relative, const char *destination)
{
	const struct discovery_device *device = part->device;
	const char *store = device->driver_store_path;
	if (!filter_vendor_matches(vendor, device))
		return;
	if (windows_path_is_absolute(store))
		add_file(part, origin,
			 arena_format(&part->answer->arena, "%s\\%s", store, relative),
			 destination);
	else if (origin != ORIGIN_BUILT_IN)
		answer_warn(part->answer,
			    "device '%s': '%s' is not mounted: where its driver lies is not known",
			    device->id, relative);
}

static void add_files(const struct part *part)
{
	const struct additional_mounts *mounts = part->request->rules->additional;
	for (size_t i = 0; i < part->device->file_count; i++)
		add_registry_file(part, &part->device->files[i]);
	for (size_t i = 0; mounts != NULL && i < mounts->count; i++) {
		const struct additional_mount *mount = &mounts->items[i];
		if (mount->kind != ADDITIONAL_MOUNT_LINUX)
			add_store_file(part, ORIGIN_CONFIGURATION, mount->vendor, mount->source,
				       mount->destination);
	}
	for (size_t i = 0; i < ARRAY_SIZE(built_in); i++)
		add_store_file(part, ORIGIN_BUILT_IN, built_in[i].vendor, built_in[i].source,
			       built_in[i].destination);
}

/* Two functions of one adapter share its string; of files with one name the first wins. */
static int join(struct answer *answer, struct answer_item *kept, const struct answer_item *next,
		struct error *err)
{
	(void)err;
	if (next->rank >> TURN_BITS != ORIGIN_BUILT_IN &&
	    strcasecmp(kept->source, next->source) != 0)
		answer_warn(answer,
			    "device '%s': '%s' is not mounted at '%s': device '%s' has '%s' there",
			    next->device, next->source, next->place, kept->device, kept->source);
	return 0;
}

int answer_build_windows(struct answer *answer, const struct answer_request *request,
			 struct error *err)
{
	static const char class[] = "class/" WINDOWS_DISPLAY_CLASS;
	const bool by_class = request->rules->allocation == ANSWER_CLASS;

	if (request->count > 1 && !request->rules->allow_several) {
		struct text ids CLEANUP_TEXT = {0};
		for (size_t i = 0; i < request->count; i++)
			text_addf(&ids, "%s'%s'", i == 0 ? "" : ", ", request->devices[i]->id);
		return error_set(
			err, ERROR_UNSUPPORTED,
			"one container cannot have %zu devices (%s): a kubelet up to 1.36 passes "
			"only the first device on to a container of Windows; ask for ids of one "
			"device, or allow it by severalDevices: allow",
			request->count, text_string(&ids));
	}

	/* The variables of aarnaud/k8s-directx-device-plugin. */
	if (by_class && request->count > 0) {
		const struct discovery_device *first = request->devices[0];
		answer_add(answer, ANSWER_NODE, first, class, class);
		answer_add(answer, ANSWER_VARIABLE, first, "DIRECTX_GPU_DriverVersion",
			   first->driver_version);
		answer_add(answer, ANSWER_VARIABLE, first, "DIRECTX_GPU_Name", first->description);
		answer_add(answer, ANSWER_VARIABLE, first, "DIRECTX_GPU_PNPDeviceID",
			   first->pnp_instance_id);
		if (request->count > 1)
			answer_warn(answer,
				    "the variables DIRECTX_GPU_* name only '%s' of %zu devices",
				    first->id, request->count);
	}

	for (size_t i = 0; i < request->count; i++) {
		const struct discovery_device *device = request->devices[i];
		const struct part part = {answer, request, device};
		if (!by_class && device->location_path[0] == '\0')
			return error_set(err, ERROR_UNSUPPORTED,
					 "device '%s' has no location path to assign it by",
					 device->id);
		if (!by_class) {
			const char *string = arena_format(&answer->arena, "vpci-location-path://%s",
							  device->location_path);
			answer_add(answer, ANSWER_NODE, device, string, string);
		}
		if (!request->rules->skip_runtime_mounts)
			add_files(&part);
	}
	/* Names in System32 do not depend on case. */
	return answer_settle(answer, strcasecmp, join, err);
}
