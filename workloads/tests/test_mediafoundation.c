/* SPDX-License-Identifier: MIT */
/* What Wine does not have: encoders in hardware, which are asynchronous. A double of one is listed in
 * the place of the system's; everything else is Media Foundation's own. */
#include "base/tests/unit.h"

#include "workloads/doubles/mft_double.h"
#include "workloads/mediafoundation/mediafoundation.h"
#include "workloads/tests/expect.h"

static struct mediafoundation *mf;

static HRESULT WINAPI nothing_of(GUID category, UINT32 flags, const MFT_REGISTER_TYPE_INFO *input,
				 const MFT_REGISTER_TYPE_INFO *output, IMFAttributes *attributes,
				 IMFActivate ***activates, UINT32 *count)
{
	(void)attributes;
	return mft_double_enumerate(category, flags, input, output, activates, count);
}

static int open_session(void)
{
	struct api_report report CLEANUP_API_REPORT = {0};
	void *session = NULL;
	api_open(&mediafoundation_api, &report, &session);
	mf = session;
	if (mf == NULL || mf->dxgi.count == 0) {
		(void)fprintf(stderr, "no session: %s\n", report.reason);
		return 1;
	}
	mf->MFTEnumEx = mft_double_enumerate;
	mf->MFTEnum2 = nothing_of;
	return 0;
}

/* The work on a device that is no processor. */
static cJSON *run_work(struct mft_settings settings)
{
	const struct work_request request = {.seed = 7, .timeout_ms = 200};
	struct work_report report CLEANUP_WORK_REPORT = {0};
	struct error err = {0};
	mft_double = settings;
	if (video_work(&mediafoundation_encoder, mf, false, &request, &report, &err) != 0)
		work_report_failure(&report, &err);
	return work_report_json(&report);
}

static void expect(struct mft_settings settings, const char *status, const char *reason)
{
	cJSON *work CLEANUP_JSON = run_work(settings);
	expect_string(work, "/status", status);
	UNIT_CONTAINS(string_at(work, "/reason"), reason);
	UNIT_INT(mft_double_alive, 0);
}

static void test_hardware(void)
{
	cJSON *work CLEANUP_JSON = run_work((struct mft_settings){.hardware = true});
	expect_string(work, "/status", "encoded");
	expect_null(work, "/reason");
	expect_count(work, "/video/encoders", 1);
	expect_string(work, "/video/encoders/0/name", "gpucert double");
	expect_bool(work, "/video/encoders/0/hardware", true);
	expect_number(work, "/video/encoders/0/most/width", 64);
	expect_number(work, "/video/streams/0/pictures", VIDEO_FRAMES);
	expect_bool(work, "/video/streams/0/hardware", true);
	UNIT_INT(mft_double_alive, 0);
}

static void test_whose_it_is(void)
{
	/* The adapter is the one that Wine makes up. */
	DXGI_ADAPTER_DESC1 adapter = {0};
	WCHAR vendor[] = L"VEN_0000";
	static const WCHAR digits[] = L"0123456789ABCDEF";
	(void)IDXGIAdapter1_GetDesc1(mf->dxgi.adapters[0], &adapter);
	for (unsigned i = 0; i < 4; i++)
		vendor[4 + i] = digits[adapter.VendorId >> (12 - 4 * i) & 0xFu];
	cJSON *work CLEANUP_JSON =
		run_work((struct mft_settings){.hardware = true, .vendor = vendor});
	expect_string(work, "/status", "encoded");
	expect((struct mft_settings){.hardware = true, .vendor = L"VEN_FFFF"}, "unsupported",
	       "the device encodes nothing");
	expect((struct mft_settings){.hardware = false}, "unsupported", "work on a processor");
}

static void test_failures(void)
{
	expect((struct mft_settings){.hardware = true, .activate = E_FAIL}, "failed",
	       "h264: IMFActivate::ActivateObject: E_FAIL");
	expect((struct mft_settings){.hardware = true, .set_type = MF_E_INVALIDMEDIATYPE}, "failed",
	       "h264: IMFTransform::SetOutputType: MF_E_INVALIDMEDIATYPE (0xc00d36b4)");
	expect((struct mft_settings){.hardware = true, .process = E_UNEXPECTED}, "failed",
	       "h264: IMFTransform::ProcessOutput: E_UNEXPECTED");
	expect((struct mft_settings){.hardware = true, .event = E_OUTOFMEMORY}, "failed",
	       "an event of the encoder: E_OUTOFMEMORY");
	expect((struct mft_settings){.hardware = true, .fault = "drop=3"}, "wrong",
	       "h264: the stream holds 11 pictures");
	expect((struct mft_settings){.hardware = true, .fault = "empty"}, "wrong",
	       "h264: the stream is empty");
}

/* The last test: what is stuck is left alone. */
static void test_stuck(void)
{
	cJSON *work CLEANUP_JSON =
		run_work((struct mft_settings){.hardware = true, .asks_for_none = true});
	expect_string(work, "/status", "timeout");
	UNIT_CONTAINS(string_at(work, "/reason"), "took 0 of 12 frames");
	CU_ASSERT_TRUE(mft_double_alive != 0);
}

int main(void)
{
	CU_TestInfo tests[] = {
		{"an encoder in hardware", test_hardware},
		{"whose encoder it is", test_whose_it_is},
		{"failures", test_failures},
		{"a stuck encoder", test_stuck},
		CU_TEST_INFO_NULL,
	};
	return unit_run_in("Media Foundation", open_session, NULL, tests);
}
