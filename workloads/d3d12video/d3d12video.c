/* SPDX-License-Identifier: MIT */
/* Defines the identifiers of the interfaces in this file. */
#define INITGUID
#include "workloads/d3d12video/d3d12video.h"

enum { FIRST_BUILD = 22000 /* Windows 11 */ };

int d3d12video_refuse(const struct os_version *system, struct error *err)
{
	static const char call[] =
		"ID3D12Device::QueryInterface(ID3D12VideoDevice3): E_NOINTERFACE";

	if (system->wine[0] != '\0')
		return error_set(err, ERROR_UNSUPPORTED,
				 "Wine %s encodes no video with Direct3D 12: %s", system->wine,
				 call);
	if (system->build != 0 && system->build < FIRST_BUILD)
		return error_set(
			err, ERROR_UNSUPPORTED,
			"Windows build %u encodes no video with Direct3D 12, which does so "
			"since build %d: %s",
			system->build, FIRST_BUILD, call);
	return error_set(err, ERROR_UNSUPPORTED,
			 "the device's driver encodes no video with Direct3D 12: %s", call);
}

static int d3d12video_work(void *session, const struct work_request *request,
			   struct work_report *report, struct error *err)
{
	struct d3d12video video = {
		.gpu = {.d3d = session, .request = request, .report = report},
	};
	struct os_version system = {0};

	work_stage_begin(report, WORK_STAGE_DEVICE);
	int rc = d3d12_device_open(&video.gpu, err);
	if (rc == 0) {
		const HRESULT result = ID3D12Device_QueryInterface(
			video.gpu.device, &IID_ID3D12VideoDevice3, (void **)&video.device);
		rc = d3d12_check(&video.gpu, result, "ID3D12Device::QueryInterface", err);
		if (result == E_NOINTERFACE) {
			(void)os_version_read(&system, NULL); /* on failure it stays unknown */
			rc = d3d12video_refuse(&system, err);
		}
	}
	if (rc == 0) /* the encoder is a part of the device */
		rc = video_work(&d3d12video_encoder, &video, false, request, report, err);
	if (rc == ERROR_TIMEOUT)
		return rc;
	com_release(video.device);
	d3d12_device_free(&video.gpu);
	return rc;
}

const struct api_driver d3d12video_api = {
	.name = "d3d12video",
	.library = D3D12_LIBRARY,
	.summary = "Encode video with Direct3D 12 on a device and report what happened",
	.description =
		"Opens Direct3D 12, lists what one adapter encodes, and encodes moving frames with each codec. The streams are in the "
		"document, for verify-video.",
	.session_size = D3D12_SESSION_SIZE,
	.open = d3d12_open,
	.work = d3d12video_work,
	.close = d3d12_close,
};
