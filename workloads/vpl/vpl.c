/* SPDX-License-Identifier: MIT */
#include "workloads/vpl/vpl.h"

#include "base/cleanup.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { DRM_MAJOR = 226 };

const mfxU32 vpl_codecs[VIDEO_CODECS] = {
	[VIDEO_H264] = MFX_CODEC_AVC,
	[VIDEO_HEVC] = MFX_CODEC_HEVC,
	[VIDEO_AV1] = MFX_CODEC_AV1,
};

static const struct {
	mfxU32 codec, profile;
	const char *name;
} profile_names[] = {
	{MFX_CODEC_AVC, MFX_PROFILE_AVC_CONSTRAINED_BASELINE, "constrained-baseline"},
	{MFX_CODEC_AVC, MFX_PROFILE_AVC_BASELINE, "baseline"},
	{MFX_CODEC_AVC, MFX_PROFILE_AVC_MAIN, "main"},
	{MFX_CODEC_AVC, MFX_PROFILE_AVC_HIGH, "high"},
	{MFX_CODEC_HEVC, MFX_PROFILE_HEVC_MAIN, "main"},
	{MFX_CODEC_HEVC, MFX_PROFILE_HEVC_MAIN10, "main10"},
	{MFX_CODEC_AV1, MFX_PROFILE_AV1_MAIN, "main"},
};

static const struct code_name names[] = {
	CODE_NAME(MFX_ERR_UNKNOWN),
	CODE_NAME(MFX_ERR_UNSUPPORTED),
	CODE_NAME(MFX_ERR_MEMORY_ALLOC),
	CODE_NAME(MFX_ERR_NOT_ENOUGH_BUFFER),
	CODE_NAME(MFX_ERR_INVALID_HANDLE),
	CODE_NAME(MFX_ERR_NOT_INITIALIZED),
	CODE_NAME(MFX_ERR_NOT_FOUND),
	CODE_NAME(MFX_ERR_ABORTED),
	CODE_NAME(MFX_ERR_DEVICE_LOST),
	CODE_NAME(MFX_ERR_INCOMPATIBLE_VIDEO_PARAM),
	CODE_NAME(MFX_ERR_INVALID_VIDEO_PARAM),
	CODE_NAME(MFX_ERR_DEVICE_FAILED),
	CODE_NAME(MFX_ERR_GPU_HANG),
	CODE_NAME(MFX_ERR_NOT_IMPLEMENTED),
	CODE_NAME(MFX_WRN_PARTIAL_ACCELERATION),
};

int vpl_check(struct call_failure *failure, mfxStatus status, const char *call, struct error *err)
{
	return status == MFX_ERR_NONE
		       ? 0
		       : call_failed(failure, call, (int)status,
				     code_name(names, ARRAY_SIZE(names), status), err);
}

/* Of frames of 8 bits in NV12, and whether there are any of 10 bits. */
static void add_memory(struct video_offer *offer, const struct encmemdesc *memory)
{
	for (size_t i = 0; memory->ColorFormats != NULL && i < memory->NumColorFormats; i++) {
		if (memory->ColorFormats[i] == MFX_FOURCC_P010)
			offer->ten_bit = 1;
		if (memory->ColorFormats[i] != MFX_FOURCC_NV12 || offer->most.width != 0)
			continue;
		offer->least = (struct video_size){memory->Width.Min, memory->Height.Min};
		offer->most = (struct video_size){memory->Width.Max, memory->Height.Max};
	}
}

static void add_profile(struct video_offer *offer, mfxU32 codec, const struct encprofile *told)
{
	for (size_t i = 0; i < ARRAY_SIZE(profile_names); i++) {
		if (profile_names[i].codec == codec && profile_names[i].profile == told->Profile)
			video_offer_add_profile(offer, profile_names[i].name);
	}
	for (size_t i = 0; told->MemDesc != NULL && i < told->NumMemTypes; i++)
		add_memory(offer, &told->MemDesc[i]);
}

static void add(struct video_offer *offer, const struct encoder *told, const char *name)
{
	(void)snprintf(offer->name, sizeof(offer->name), "%s", name);
	offer->hardware = true;
	offer->ten_bit = 0;
	if (!told->BiDirectionalPrediction)
		offer->b_frames = 0;
	for (size_t i = 0; told->Profiles != NULL && i < told->NumProfiles; i++)
		add_profile(offer, told->CodecID, &told->Profiles[i]);
}

static void add_offers(const mfxEncoderDescription *told, const char *name,
		       struct video_offers *offers)
{
	for (int codec = 0; codec < VIDEO_CODECS; codec++) {
		for (size_t i = 0; told->Codecs != NULL && i < told->NumCodecs; i++) {
			struct video_offer *offer =
				told->Codecs[i].CodecID == vpl_codecs[codec]
					? video_offer_add(offers, (enum video_codec)codec)
					: NULL;
			if (offer != NULL)
				add(offer, &told->Codecs[i], name);
		}
	}
}

/* NULL: the implementation does not tell, as those of before API 2.6. */
static const mfxExtendedDeviceId *extended_id(const struct vpl *vpl, mfxU32 index)
{
	mfxHDL id = NULL;
	return vpl->MFXEnumImplementations(vpl->loader, index, MFX_IMPLCAPS_DEVICE_ID_EXTENDED,
					   &id) == MFX_ERR_NONE
		       ? id
		       : NULL;
}

static void add_identity(struct members *device, const mfxExtendedDeviceId *id)
{
	struct members drm CLEANUP_MEMBERS = members_new();
	if (id == NULL) {
		member_null(device, "pciAddress");
		return;
	}
	member_hex(device, "vendorId", id->VendorID, 4);
	member_hex(device, "deviceId", id->DeviceID, 4);
	member_bytes(device, "deviceLuid", id->LUIDValid == 1 ? id->DeviceLUID : NULL,
		     sizeof(id->DeviceLUID));
	api_add_pci_address(device, id->PCIDomain, id->PCIBus, id->PCIDevice, id->PCIFunction);
	if (id->DRMRenderNodeNum == 0)
		return;
	member_null(&drm, "primary");
	member_format(&drm, "render", "%d:%u", DRM_MAJOR, (unsigned)id->DRMRenderNodeNum);
	member_item(device, "drm", members_take(&drm));
}

static cJSON *describe(const struct vpl *vpl, const mfxImplDescription *told,
		       const mfxExtendedDeviceId *id)
{
	struct members device CLEANUP_MEMBERS = members_new();
	member_number(&device, "index", (double)vpl->count);
	member_text(&device, "name", told->ImplName, sizeof(told->ImplName));
	member_null(&device, "type");
	member_bool(&device, "software", false);
	member_null(&device, "deviceUuid");
	add_identity(&device, id);
	member_format(&device, "apiVersion", "%u.%u", told->ApiVersion.Major,
		      told->ApiVersion.Minor);
	api_add_driver(&device, NULL);
	member_null(&device, "memoryBytes");
	return members_take(&device);
}

static int add_device(struct vpl *vpl, mfxU32 index, const mfxImplDescription *told,
		      struct api_report *report, struct error *err)
{
	struct vpl_device *device = &vpl->devices[vpl->count];
	char name[sizeof(told->ImplName) + 1] = "";
	memcpy(name, told->ImplName, sizeof(told->ImplName));
	if (told->Impl != MFX_IMPL_TYPE_HARDWARE) {
		vpl->software++;
		api_report_message(report, "an implementation in software is left out");
		return 0;
	}
	const mfxExtendedDeviceId *id = extended_id(vpl, index);
	device->index = index;
	device->render_node = id != NULL ? id->DRMRenderNodeNum : 0;
	add_offers(&told->Enc, name, &device->offers);
	int rc = api_report_device(report, describe(vpl, told, id), err);
	if (id != NULL)
		(void)vpl->MFXDispReleaseImplDescription(vpl->loader, (mfxHDL)(uintptr_t)id);
	if (rc == 0)
		vpl->count++;
	return rc;
}

/* The dispatcher passes over what it cannot load, and says nothing of it. */
static int enumerate(struct vpl *vpl, struct api_report *report, struct error *err)
{
	mfxStatus status = MFX_ERR_NONE;
	int rc = 0;
	for (mfxU32 i = 0; rc == 0 && i < VPL_DEVICES_MAX; i++) {
		mfxHDL told = NULL;
		status = vpl->MFXEnumImplementations(vpl->loader, i, MFX_IMPLCAPS_IMPLDESCSTRUCTURE,
						     &told);
		if (status != MFX_ERR_NONE || told == NULL)
			break;
		rc = add_device(vpl, i, told, report, err);
		(void)vpl->MFXDispReleaseImplDescription(vpl->loader, told);
	}
	if (rc != 0 || vpl->count > 0)
		return rc;
	if (vpl->software > 0)
		return error_set(err, ERROR_UNSUPPORTED,
				 "the oneVPL dispatcher found implementations in software alone");
	if (status == MFX_ERR_NOT_FOUND || status == MFX_ERR_NONE)
		return error_set(
			err, ERROR_UNSUPPORTED,
			"the oneVPL dispatcher found no implementation that it can use "
			"(MFXEnumImplementations: MFX_ERR_NOT_FOUND (-9)): the runtime of the "
			"device's driver, or a function or library that it needs, is missing");
	return vpl_check(NULL, status, "MFXEnumImplementations", err);
}

static int vpl_open(struct api_report *report, void **session, struct error *err)
{
	struct vpl *vpl = *session;
#define FUNCTION(name) {#name, &vpl->name},
	const struct api_function functions[] = {VPL_FUNCTIONS(FUNCTION){NULL, NULL}};
#undef FUNCTION
	int rc = api_load(report, VPL_LIBRARY, functions, err);
	if (rc != 0)
		return rc;
	report->missing = "oneVPL runtime";
	vpl->loader = vpl->MFXLoad();
	if (vpl->loader == NULL)
		return error_set(err, ERROR_REMOTE, "MFXLoad: no loader");
	rc = enumerate(vpl, report, err);
	if (rc != 0)
		vpl->MFXUnload(vpl->loader);
	return rc;
}

static void vpl_close(void *session)
{
	struct vpl *vpl = session;
	vpl->MFXUnload(vpl->loader);
	free(vpl);
}

static int vpl_work(void *session, const struct work_request *request, struct work_report *report,
		    struct error *err)
{
	return video_work(&vpl_encoder, session, false, request, report, err);
}

const struct api_driver vpl_api = {
	.name = "vpl",
	.library = VPL_LIBRARY,
	.summary = "Encode video with oneVPL on a device and report what happened",
	.description =
		"Opens the oneVPL dispatcher, lists the implementations in hardware and what they encode, and encodes moving frames with each "
		"codec on one of them. The streams are in the document, for verify-video to decode.",
	.session_size = sizeof(struct vpl),
	.open = vpl_open,
	.work = vpl_work,
	.close = vpl_close,
};
