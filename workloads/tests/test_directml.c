/* SPDX-License-Identifier: MIT */

/* DirectML, and the shader of Shader Model 6 of Direct3D 12, on a real device: in sizes around work
 * groups, and with single methods replaced that refuse, do nothing, or take other operands. */

#include "workloads/directml/directml.h"
#include "workloads/tests/method_faults.h"

#include "base/cleanup.h"
#include "base/library.h"

static void *session; /* of DirectML */
static void *d3d;     /* of Direct3D 12 */
static struct IDMLDeviceVtbl *device_methods, device_original;
static struct IDMLCommandRecorderVtbl *recorder_methods, recorder_original;
static struct IDMLBindingTableVtbl *table_methods, table_original;
static ID3D12GraphicsCommandListVtbl *list_methods, list_original;

static bool keep_methods(const struct directml_operator *op)
{
	device_methods = methods_of(op->device, &device_original, sizeof(device_original));
	recorder_methods = methods_of(op->recorder, &recorder_original, sizeof(recorder_original));
	table_methods = methods_of(op->table, &table_original, sizeof(table_original));
	list_methods = methods_of(op->gpu->list, &list_original, sizeof(list_original));
	return device_methods != NULL && recorder_methods != NULL && table_methods != NULL &&
	       list_methods != NULL;
}

static bool find_methods(struct error *err)
{
	struct api_report other CLEANUP_API_REPORT = {0};
	const struct work_request request = {.elements = 64, .seed = 1, .timeout_ms = 20000};
	const struct directml_task task = {"sum", DML_OPERATOR_ELEMENT_WISE_ADD, {1, 1, 1, 64}, 64};
	struct work_report report = {0};
	struct d3d12_device gpu = {.request = &request, .report = &report};
	struct directml_operator op = {.gpu = &gpu};
	dml_create_device create = NULL;
	void *library = NULL;
	api_open(&d3d12_api, &other, &d3d);
	gpu.d3d = d3d;
	int rc = library_open(DIRECTML_LIBRARY, &library, err);
	if (rc == 0)
		rc = library_function(library, "DMLCreateDevice", &create, err);
	if (rc == 0 && d3d != NULL)
		rc = d3d12_device_open(&gpu, err);
	if (rc == 0 && d3d != NULL)
		rc = d3d12_check(&gpu, create(gpu.device, 0, &dml_iid_device, (void **)&op.device),
				 "DMLCreateDevice", err);
	if (rc == 0 && d3d != NULL)
		rc = directml_operator_build(&op, &task, err);
	return rc == 0 && d3d != NULL && keep_methods(&op);
}

static struct work_report work(const struct api_driver *api, size_t elements)
{
	return methods_work(api, api == &directml_api ? session : d3d, elements, 60000);
}

static void expect_failure(const struct work_report *report, const char *call, const char *name)
{
	CU_ASSERT_EQUAL(report->status, WORK_FAILED);
	UNIT_STRING(report->failure.call, call);
	UNIT_STRING(report->failure.code_name, name);
}

static void test_sizes(void)
{
	static const size_t sizes[] = {1, 63, 65, 1000, 1 << 20};
	for (size_t i = 0; i < ARRAY_SIZE(sizes); i++) {
		struct work_report report = work(&directml_api, sizes[i]);
		UNIT_STRING(report.reason, "");
		CU_ASSERT_EQUAL(report.status, WORK_OK);
		UNIT_INT(report.digest_count, 2);
		report = work(&d3d12_api, sizes[i]);
		UNIT_STRING(report.reason, "");
		CU_ASSERT_EQUAL(report.status, WORK_OK);
		UNIT_STRING(report.shader_model, "6.0");
		UNIT_INT(report.digest_count, 5);
	}
}

static void STDMETHODCALLTYPE no_dispatch(IDMLCommandRecorder *recorder, ID3D12CommandList *list,
					  IDMLDispatchable *dispatchable, IDMLBindingTable *table)
{
	(void)recorder;
	(void)list;
	(void)dispatchable;
	(void)table;
}

static void test_skipped_operators_are_wrong(void)
{
	recorder_methods->RecordDispatch = no_dispatch;
	struct work_report report = work(&directml_api, 1000);
	CU_ASSERT_EQUAL(report.status, WORK_WRONG);
	UNIT_STRING(report.results.array, "sum");
	UNIT_INT(report.results.mismatches, 1000 + WORK_MATRIX * WORK_MATRIX);
}

static void STDMETHODCALLTYPE swap_inputs(IDMLBindingTable *table, uint32_t count,
					  const struct dml_desc *inputs)
{
	struct dml_desc swapped[3] = {inputs[1], inputs[0]};
	if (count == 3)
		swapped[2] = inputs[2];
	table_original.BindInputs(table, count, swapped);
}

/* A sum does not tell its operands apart, a product of matrices does. */
static void test_operands_in_another_order_are_wrong(void)
{
	table_methods->BindInputs = swap_inputs;
	struct work_report report = work(&directml_api, 1000);
	CU_ASSERT_EQUAL(report.status, WORK_WRONG);
	UNIT_STRING(report.results.array, "product");
}

static HRESULT STDMETHODCALLTYPE refuse_to_compile(IDMLDevice *device, IDMLOperator *operator,
						   uint32_t flags, REFIID id, void **out)
{
	(void)device;
	(void)operator;
	(void)flags;
	(void)id;
	(void)out;
	return (HRESULT)0x80004005;
}

static void test_a_refused_call_is_named(void)
{
	device_methods->CompileOperator = refuse_to_compile;
	struct work_report report = work(&directml_api, 1000);
	expect_failure(&report, "IDMLDevice::CompileOperator", "E_FAIL");
	CU_ASSERT_EQUAL(report.stage, WORK_STAGE_BUILD);
}

static HRESULT STDMETHODCALLTYPE hung(IDMLDevice *device)
{
	(void)device;
	return (HRESULT)0x887A0006;
}

static void test_a_removed_device_is_told(void)
{
	device_methods->GetDeviceRemovedReason = hung;
	struct work_report report = work(&directml_api, 1000);
	expect_failure(&report, "IDMLDevice::GetDeviceRemovedReason", "DXGI_ERROR_DEVICE_HUNG");
}

static unsigned dispatches;

static void STDMETHODCALLTYPE dispatch_once(ID3D12GraphicsCommandList *list, UINT x, UINT y, UINT z)
{
	if (dispatches++ == 0)
		list_original.Dispatch(list, x, y, z);
}

/* The right results of the first shader are not those of the second. */
static void test_a_skipped_shader_of_model_6_is_wrong(void)
{
	dispatches = 0;
	list_methods->Dispatch = dispatch_once;
	struct work_report report = work(&d3d12_api, 1000);
	UNIT_INT(dispatches, 2);
	CU_ASSERT_EQUAL(report.status, WORK_WRONG);
	UNIT_STRING(report.results.array, "dxilValues");
}

int main(void)
{
	CU_TestInfo tests[] = {
		{"sizes", test_sizes},
		{"skipped operators are wrong", test_skipped_operators_are_wrong},
		{"operands in another order are wrong", test_operands_in_another_order_are_wrong},
		{"a refused call is named", test_a_refused_call_is_named},
		{"a removed device is told", test_a_removed_device_is_told},
		{"a skipped shader of model 6 is wrong", test_a_skipped_shader_of_model_6_is_wrong},
		CU_TEST_INFO_NULL,
	};
	return methods_main("DirectML", &directml_api, &session, find_methods, tests, true);
}
