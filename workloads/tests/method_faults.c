/* SPDX-License-Identifier: MIT */
#include "workloads/tests/method_faults.h"

#include "base/cleanup.h"

#include <string.h>
#include <unistd.h>
#ifdef _WIN32
#include <windows.h>
#else
#include <sys/mman.h>
#endif

enum { TABLES_MAX = 4, SKIPPED = 77 };

static struct {
	void *table;
	const void *original;
	size_t size;
} tables[TABLES_MAX];
static size_t table_count;

static bool make_writable(void *memory, size_t size)
{
#ifdef _WIN32
	DWORD before = 0;
	return VirtualProtect(memory, size, PAGE_READWRITE, &before) != 0;
#else
	const uintptr_t page = (uintptr_t)sysconf(_SC_PAGESIZE);
	const uintptr_t first = (uintptr_t)memory & ~(page - 1);
	return mprotect((void *)first, (uintptr_t)memory + size - first, PROT_READ | PROT_WRITE) ==
	       0;
#endif
}

void *methods_of(void *object, void *original, size_t size)
{
	void *table = NULL;
	memcpy(&table, object, sizeof(table)); /* the first member; headers call it const */
	if (table_count == TABLES_MAX || !make_writable(table, size))
		return NULL;
	memcpy(original, table, size);
	tables[table_count].table = table;
	tables[table_count].original = original;
	tables[table_count++].size = size;
	return table;
}

void methods_restore(void)
{
	for (size_t i = 0; i < table_count; i++)
		memcpy(tables[i].table, tables[i].original, tables[i].size);
}

struct work_report methods_work(const struct api_driver *api, void *session, size_t elements,
				uint64_t timeout_ms)
{
	const struct work_request request = {
		.elements = elements, .seed = 4711, .timeout_ms = timeout_ms};
	struct work_report report = {0};
	api_work(api, session, 1, &request, &report);
	methods_restore();
	return report;
}

int methods_main(const char *suite, const struct api_driver *api, void **session,
		 bool (*find)(struct error *err), CU_TestInfo *tests, bool may_be_missing)
{
	struct api_report report CLEANUP_API_REPORT = {0};
	struct error err = {0};
	api_open(api, &report, session);
	if (may_be_missing && report.missing != NULL && *session == NULL)
		return SKIPPED;
	if (*session == NULL || !find(&err)) {
		(void)fprintf(stderr, "no device of %s: %s%s\n", api->name, report.reason,
			      err.text);
		return 1;
	}
	int code = unit_run(suite, tests);
	(void)fflush(NULL);
	_exit(code);
}
