/* SPDX-License-Identifier: MIT */
/* The driver store path as the kernel tells it, from a kernel that fails in every way that it can;
 * Wine's does not know the query. */
#include "base/cleanup.h"
#include "base/tests/unit.h"
#include "discovery/windows/d3dkmt.h"

enum { ADAPTER = 0x40000001 };

static struct {
	LONG result;		 /* of the call */
	uint32_t status;	 /* that is answered where there is room */
	uint32_t claimed;	 /* bytes that are told; 0: those of the path */
	uint32_t growth;	 /* bytes that the path grows by with each call */
	uint32_t overflow_bytes; /* told instead of the need */
	const WCHAR *path;
	unsigned calls;
} kernel;

static LONG APIENTRY kernel_query(const struct d3dkmt_query_adapter *query)
{
	struct d3dkmt_registry_info *info = query->data;
	uint32_t room = query->size - (uint32_t)sizeof(*info);
	uint32_t needed =
		(uint32_t)(wcslen(kernel.path) * sizeof(WCHAR)) + kernel.growth * ++kernel.calls;
	UNIT_INT(query->adapter, ADAPTER);
	UNIT_INT(query->type, D3DKMT_QUERY_REGISTRY);
	UNIT_INT(info->query, D3DKMT_REGISTRY_DRIVER_STORE_PATH);
	if (kernel.result < 0)
		return kernel.result;
	info->output_size = needed;
	info->status = kernel.status;
	if (kernel.status == D3DKMT_REGISTRY_OK && needed > room)
		info->status = D3DKMT_REGISTRY_OVERFLOW;
	if (info->status == D3DKMT_REGISTRY_OVERFLOW && kernel.overflow_bytes != 0)
		info->output_size = kernel.overflow_bytes;
	if (info->status != D3DKMT_REGISTRY_OK)
		return 0;
	memcpy(info->output, kernel.path, wcslen(kernel.path) * sizeof(WCHAR));
	if (kernel.claimed != 0)
		info->output_size = kernel.claimed;
	return 0;
}

static void expect(const char *path, unsigned calls, const char *error)
{
	char *out CLEANUP_FREE = NULL;
	struct error err = {0};
	int rc = d3dkmt_query_store_path(kernel_query, ADAPTER, &out, &err);
	UNIT_STRING(err.text, error);
	UNIT_INT(rc < 0, error[0] != '\0');
	UNIT_INT(kernel.calls, calls);
	kernel.calls = 0;
	if (path != NULL)
		UNIT_STRING(out, path);
	else
		CU_ASSERT_PTR_NULL(out);
}

static void test_paths(void)
{
	WCHAR longer[2000] = L"";
	char wanted[2000] = "";
	kernel.path = L"\\SystemRoot\\System32\\DriverStore\\FileRepository\\nv";
	expect("\\SystemRoot\\System32\\DriverStore\\FileRepository\\nv", 1, "");
	kernel.path = L"C:\\\x00E4\xD83C\xDFAE";
	expect("C:\\\xC3\xA4\xF0\x9F\x8E\xAE", 1, "");
	for (size_t i = 0; i < ARRAY_SIZE(longer) - 1; i++) {
		longer[i] = L'a';
		wanted[i] = 'a';
	}
	kernel.path = longer;
	expect(wanted, 2, "");
}

/* Upstream looks at the status of the call alone, and takes what is in the buffer. */
static void test_fault_a_query_that_failed_is_told(void)
{
	kernel.path = L"x";
	kernel.status = D3DKMT_REGISTRY_FAIL;
	expect(NULL, 1, "the driver store path query failed (status 2)");
	kernel.status = 77;
	expect(NULL, 1, "the driver store path query failed (status 77)");
	kernel.status = 0;
	kernel.result = (LONG)0xC0000022;
	expect(NULL, 1, "D3DKMTQueryAdapterInfo failed with status 0xc0000022");
	kernel.result = (LONG)0xC0000002;
	expect(NULL, 1, "D3DKMTQueryAdapterInfo failed with status 0xc0000002");
	kernel.result = 0;
}

/* Upstream asks again for as long as the kernel says that there is more. */
static void test_fault_overflow_without_end(void)
{
	kernel.path = L"x";
	kernel.growth = 2000;
	expect(NULL, 4, "the driver store path does not stop growing");
	kernel.overflow_bytes = 1 << 30;
	expect(NULL, 1, "the driver store path has 1073741824 bytes");
	kernel.overflow_bytes = 16;
	expect(NULL, 1, "the driver store path has 16 bytes");
	kernel.growth = 0;
	kernel.overflow_bytes = 0;
	kernel.claimed = 1 << 20;
	expect(NULL, 1, "the driver store path query reported a wrong size");
	kernel.claimed = 0;
}

UNIT_MAIN("D3DKMT", {"paths", test_paths},
	  {"fault: a query that failed is told", test_fault_a_query_that_failed_is_told},
	  {"fault: overflow without end", test_fault_overflow_without_end})
