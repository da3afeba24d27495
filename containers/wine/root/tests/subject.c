/* SPDX-License-Identifier: MIT */
/*
 * The Windows program that test_wine_run.sh runs: does what its first argument says.
 *   arguments ARG...    prints each in brackets
 *   exit CODE           ends with it
 *   hang                prints "hanging" and waits for ever, with a child of its own that does too
 *   ctrl                prints "ready" and waits for Ctrl-C: exit code 7
 *   keep NAME           writes a value to C:\ and the registry, waits, and says whether both are
 * still its own crash               access violation copy                stdin to stdout
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <windows.h>

#include <shellapi.h>

static volatile LONG ctrl_event = -1;
static HANDLE ctrl_thread;

static BOOL WINAPI on_ctrl(DWORD event)
{
	DuplicateHandle(GetCurrentProcess(), GetCurrentThread(), GetCurrentProcess(), &ctrl_thread,
			SYNCHRONIZE, FALSE, 0);
	ctrl_event = (LONG)event;
	return TRUE;
}

static int wait_for_ctrl(void)
{
	SetConsoleCtrlHandler(on_ctrl, TRUE);
	printf("ready\n");
	fflush(stdout);
	while (ctrl_event < 0)
		Sleep(10);
	/* Wine ends with a page fault when the process goes while the handler's thread does. */
	WaitForSingleObject(ctrl_thread, INFINITE);
	printf("event %ld\n", ctrl_event);
	return 7;
}

static int hang(const char *program, int with_child)
{
	STARTUPINFOA startup = {.cb = sizeof(startup)};
	PROCESS_INFORMATION process = {0};
	char command[MAX_PATH + 16] = "";
	snprintf(command, sizeof(command), "\"%s\" hang-alone", program);
	if (with_child &&
	    !CreateProcessA(NULL, command, NULL, NULL, FALSE, 0, NULL, NULL, &startup, &process))
		return 1;
	printf("hanging\n");
	fflush(stdout);
	Sleep(INFINITE);
	return 0;
}

static int keep(const char *name)
{
	static const char path[] = "C:\\windows\\temp\\kept.txt";
	char from_file[64] = "", from_registry[64] = "";
	DWORD size = sizeof(from_registry);
	FILE *file = fopen(path, "r");
	if (file != NULL) {
		printf("there already\n");
		return 1;
	}
	file = fopen(path, "w");
	if (file == NULL || fputs(name, file) < 0 || fclose(file) != 0)
		return 2;
	if (RegSetKeyValueA(HKEY_LOCAL_MACHINE, "Software\\gpucert-test", "kept", REG_SZ, name,
			    (DWORD)strlen(name) + 1) != ERROR_SUCCESS)
		return 3;
	printf("written\n");
	fflush(stdout);
	(void)getchar();
	file = fopen(path, "r");
	if (file == NULL || fgets(from_file, sizeof(from_file), file) == NULL)
		return 4;
	fclose(file);
	if (RegGetValueA(HKEY_LOCAL_MACHINE, "Software\\gpucert-test", "kept", RRF_RT_REG_SZ, NULL,
			 from_registry, &size) != ERROR_SUCCESS)
		return 5;
	return strcmp(from_file, name) == 0 && strcmp(from_registry, name) == 0 ? 0 : 6;
}

static DWORD WINAPI run_for_ever(void *unused)
{
	(void)unused;
	for (;;)
		Sleep(1);
	return 0;
}

static int use_opencl(void)
{
	typedef int(WINAPI * platforms_function)(unsigned size, void **out, unsigned *count);
	typedef int(WINAPI * devices_function)(void *platform, unsigned long long type,
					       unsigned size, void **out, unsigned *count);
	HMODULE library = LoadLibraryA("opencl.dll");
	platforms_function platforms =
		(platforms_function)(void *)GetProcAddress(library, "clGetPlatformIDs");
	devices_function devices =
		(devices_function)(void *)GetProcAddress(library, "clGetDeviceIDs");
	void *platform = NULL, *device = NULL;
	unsigned count = 0;
	if (library == NULL || platforms(1, &platform, &count) != 0 ||
	    devices(platform, 0xffffffff, 1, &device, &count) != 0)
		return 1;
	for (int i = 0; i < 8; i++)
		(void)CreateThread(NULL, 0, run_for_ever, NULL, 0, NULL);
	Sleep(50);
	return 9;
}

static int copy(void)
{
	for (int c = getchar(); c != EOF; c = getchar())
		putchar(c);
	return 0;
}

/* As UTF-8: what main() gets is in the system's code page. */
static int print_arguments(void)
{
	int count = 0;
	wchar_t **words = CommandLineToArgvW(GetCommandLineW(), &count);
	for (int i = 2; words != NULL && i < count; i++) {
		char text[256] = "";
		WideCharToMultiByte(CP_UTF8, 0, words[i], -1, text, sizeof(text), NULL, NULL);
		printf("[%s]\n", text);
	}
	return words == NULL;
}

int main(int argc, char **argv)
{
	const char *what = argc > 1 ? argv[1] : "";
	if (strcmp(what, "arguments") == 0)
		return print_arguments();
	if (strcmp(what, "exit") == 0 && argc > 2)
		return (int)strtol(argv[2], NULL, 10);
	if (strcmp(what, "hang") == 0 || strcmp(what, "hang-alone") == 0)
		return hang(argv[0], strcmp(what, "hang") == 0);
	if (strcmp(what, "ctrl") == 0)
		return wait_for_ctrl();
	if (strcmp(what, "keep") == 0 && argc > 2)
		return keep(argv[2]);
	if (strcmp(what, "opencl") == 0)
		return use_opencl();
	if (strcmp(what, "crash") == 0)
		*(volatile int *)(size_t)argc = 1;
	return strcmp(what, "copy") == 0 ? copy() : 100;
}
