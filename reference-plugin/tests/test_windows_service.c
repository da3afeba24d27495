/* SPDX-License-Identifier: MIT */
/* device-plugin-wddm as a service, started and stopped by the service control manager. */
#include "base/cleanup.h"
#include "base/clock.h"
#include "base/file.h"
#include "base/path.h"
#include "base/tests/unit.h"
#include "base/text.h"
#include "base/utf16.h"

#include <stdlib.h>
#include <windows.h>

enum { TIMEOUT_MS = 20000, POLL_MS = 50, NOT_TESTED = 77 };

static struct {
	SC_HANDLE manager;
	char *directory;
	char *log;
} fixture;

/* A service has a working directory, and so a drive, of its own. NULL: unknown. */
static char *absolute(const char *path)
{
	uint16_t *relative CLEANUP_FREE = utf16_from_utf8(path, NULL);
	wchar_t whole[MAX_PATH] = L"";
	DWORD length = relative != NULL
			       ? GetFullPathNameW((const wchar_t *)relative, MAX_PATH, whole, NULL)
			       : 0;
	return length > 0 && length < MAX_PATH ? utf16_to_utf8((const uint16_t *)whole, length)
					       : NULL;
}

/* A service that runs the plugin on the recorded node `node`. */
static SC_HANDLE create_service(const char *node)
{
	char *program CLEANUP_FREE = NULL;
	char *command CLEANUP_FREE = NULL;
	uint16_t *wide CLEANUP_FREE = NULL;
	SC_HANDLE service = NULL;
	UNIT_INT(path_beside_program("../bin/device-plugin-wddm.exe", &program, NULL), 0);
	command =
		text_format("\"%s\" --service --node \"%s\" --plugin-dir \"%s\" --log-file \"%s\"",
			    program, node, fixture.directory, fixture.log);
	wide = utf16_from_utf8(command, NULL);
	service = CreateServiceW(fixture.manager, L"gpucert-test-wddm", L"gpucert test",
				 SERVICE_ALL_ACCESS, SERVICE_WIN32_OWN_PROCESS,
				 SERVICE_DEMAND_START, SERVICE_ERROR_IGNORE, (const wchar_t *)wide,
				 NULL, NULL, NULL, NULL, NULL);
	CU_ASSERT_PTR_NOT_NULL_FATAL(service);
	return service;
}

static void delete_service(SC_HANDLE service)
{
	CU_ASSERT_TRUE(DeleteService(service));
	(void)CloseServiceHandle(service);
}

static SERVICE_STATUS await_state(SC_HANDLE service, DWORD wanted)
{
	uint64_t end = clock_monotonic_ms() + TIMEOUT_MS;
	SERVICE_STATUS status = {0};
	do {
		CU_ASSERT_TRUE(QueryServiceStatus(service, &status));
		if (status.dwCurrentState == wanted)
			break;
		clock_sleep_ms(POLL_MS);
	} while (clock_monotonic_ms() < end);
	UNIT_INT(status.dwCurrentState, wanted);
	return status;
}

static void await_log(const char *part)
{
	uint64_t end = clock_monotonic_ms() + TIMEOUT_MS;
	char *content CLEANUP_FREE = NULL;
	do {
		free(STEAL(content));
		if (file_read(fixture.log, 65536, &content, NULL, NULL) == 0 &&
		    strstr(content, part) != NULL)
			return;
		clock_sleep_ms(POLL_MS);
	} while (clock_monotonic_ms() < end);
	UNIT_CONTAINS(content != NULL ? content : "", part);
}

static void test_start_and_stop(void)
{
	char *node CLEANUP_FREE =
		absolute(GPUCERT_SOURCE_DIR "/discovery/nodes/windows-4x-tesla-t4.json");
	SC_HANDLE service = create_service(node);
	SERVICE_STATUS status = {0};
	CU_ASSERT_TRUE_FATAL(StartServiceW(service, 0, NULL));
	(void)await_state(service, SERVICE_RUNNING);
	await_log("serving on");
	CU_ASSERT_TRUE(ControlService(service, SERVICE_CONTROL_STOP, &status));
	status = await_state(service, SERVICE_STOPPED);
	UNIT_INT(status.dwWin32ExitCode, NO_ERROR);
	await_log("stopping on a service stop");
	delete_service(service);
}

static void test_failure_is_the_services_own_error(void)
{
	SC_HANDLE service = create_service("C:\\nonexistent\\node.json");
	SERVICE_STATUS status = {0};
	CU_ASSERT_TRUE_FATAL(StartServiceW(service, 0, NULL));
	status = await_state(service, SERVICE_STOPPED);
	UNIT_INT(status.dwWin32ExitCode, ERROR_SERVICE_SPECIFIC_ERROR);
	UNIT_INT(status.dwServiceSpecificExitCode, 1);
	await_log("node.json");
	delete_service(service);
}

int main(void)
{
	CU_TestInfo tests[] = {
		{"start and stop", test_start_and_stop},
		{"a failure is the service's own error", test_failure_is_the_services_own_error},
		CU_TEST_INFO_NULL,
	};
	int failed = 1;
	fixture.manager = OpenSCManagerW(NULL, NULL, SC_MANAGER_CREATE_SERVICE);
	if (fixture.manager == NULL) {
		(void)printf("not tested: no right to create services\n");
		return NOT_TESTED;
	}
	if (file_make_temporary("/tmp", "gpucert-plugin-", &fixture.directory, NULL) == 0) {
		char *whole = absolute(fixture.directory);
		free(fixture.directory);
		fixture.directory = whole;
		fixture.log = path_join(fixture.directory, "plugin.log");
		failed = unit_run("Windows service", tests);
		(void)file_remove_tree(fixture.directory, NULL);
	}
	(void)CloseServiceHandle(fixture.manager);
	free(fixture.directory);
	free(fixture.log);
	return failed;
}
