/* SPDX-License-Identifier: MIT */
#include "base/process_internal.h"

#include "base/cleanup.h"
#include "base/file.h"
#include "base/memory.h"
#include "base/path.h"
#include "base/windows/wide.h"

#include <errno.h>
#include <fcntl.h>
#include <io.h>
#include <string.h>

enum { SPAWN_STREAMS = 3 };

/* The arguments of CreateProcessW(). */
struct spawn_plan {
	wchar_t *program, *command_line, *environment, *directory;
	HANDLE handles[SPAWN_STREAMS]; /* inheritable, closed by us; NULL: none */
	bool borrowed[SPAWN_STREAMS];  /* our own standard handles */
	int out_read, err_read, in_write;
};

static void plan_free(struct spawn_plan *plan)
{
	free(plan->program);
	free(plan->command_line);
	free(plan->environment);
	free(plan->directory);
	for (size_t i = 0; i < SPAWN_STREAMS; i++) {
		if (plan->handles[i] != NULL && !plan->borrowed[i])
			(void)CloseHandle(plan->handles[i]);
	}
	if (plan->out_read >= 0)
		(void)_close(plan->out_read);
	if (plan->err_read >= 0)
		(void)_close(plan->err_read);
	if (plan->in_write >= 0)
		(void)_close(plan->in_write);
}

/* `path` or `path`.exe, whichever is a file. */
static char *program_at(const char *path)
{
	if (file_exists(path) && !file_is_directory(path))
		return memory_copy(path);
	char *with_extension = text_format("%s.exe", path);
	if (with_extension != NULL && file_exists(with_extension))
		return with_extension;
	free(with_extension);
	return NULL;
}

int process_find_program(const char *name, char **out, struct error *err)
{
	const bool is_path = strpbrk(name, "/\\") != NULL;
	wchar_t wide[32767] = L"";
	struct text_list directories CLEANUP_TEXT_LIST = {0};
	*out = is_path ? program_at(name) : NULL;
	if (!is_path) {
		(void)GetEnvironmentVariableW(L"PATH", wide, ARRAY_SIZE(wide));
		char *path CLEANUP_FREE = wide_to_utf8(wide);
		text_list_split(&directories, path, ';');
	}
	for (size_t i = 0; *out == NULL && i < directories.count; i++) {
		char *candidate CLEANUP_FREE = path_join(directories.items[i], name);
		if (path_is_absolute(directories.items[i]))
			*out = program_at(candidate);
	}
	return *out != NULL ? 0
			    : error_set(err, ERROR_NOT_FOUND, "%s: not found%s", name,
					is_path ? "" : " in PATH");
}

static void spawn_inherit(HANDLE handle)
{
	(void)SetHandleInformation(handle, HANDLE_FLAG_INHERIT, HANDLE_FLAG_INHERIT);
}

/* A pipe of which one end is a descriptor for libuv and the other one, 0 to read or 1 to write, the
 * child's. */
static int spawn_pipe(int child_end, int *fd, HANDLE *handle, struct error *err)
{
	uv_file fds[2] = {-1, -1};
	int rc = uv_pipe(fds, child_end == 1 ? UV_NONBLOCK_PIPE : 0,
			 child_end == 0 ? UV_NONBLOCK_PIPE : 0);
	if (rc < 0)
		return error_uv(err, rc, "pipe");
	if (!DuplicateHandle(GetCurrentProcess(), (HANDLE)_get_osfhandle(fds[child_end]),
			     GetCurrentProcess(), handle, 0, TRUE, DUPLICATE_SAME_ACCESS))
		rc = error_windows(err, GetLastError(), "pipe");
	(void)_close(fds[child_end]);
	if (rc < 0)
		(void)_close(fds[1 - child_end]);
	else
		*fd = fds[1 - child_end];
	return rc;
}

static int plan_streams(const struct process_spec *spec, struct spawn_plan *plan, struct error *err)
{
	int rc = 0;
	if (spec->input != NULL) {
		rc = spawn_pipe(0, &plan->in_write, &plan->handles[0], err);
	} else {
		plan->handles[0] =
			CreateFileW(L"NUL", GENERIC_READ, FILE_SHARE_READ | FILE_SHARE_WRITE, NULL,
				    OPEN_EXISTING, 0, NULL);
		spawn_inherit(plan->handles[0]);
	}
	if (rc < 0)
		return rc;
	if (spec->inherit_output) {
		plan->handles[1] = GetStdHandle(STD_OUTPUT_HANDLE);
		plan->handles[2] = GetStdHandle(STD_ERROR_HANDLE);
		plan->borrowed[1] = plan->borrowed[2] = true;
		spawn_inherit(plan->handles[1]);
		spawn_inherit(plan->handles[2]);
	} else {
		rc = spawn_pipe(1, &plan->out_read, &plan->handles[1], err);
		if (rc == 0)
			rc = spawn_pipe(1, &plan->err_read, &plan->handles[2], err);
	}
	return rc;
}

static int compare(const void *a, const void *b)
{
	return stricmp(*(char *const *)a, *(char *const *)b);
}

char *process_command_line(const char *const *argv)
{
	struct text out CLEANUP_TEXT = {0};
	for (size_t i = 0; argv[i] != NULL; i++) {
		text_add(&out, i != 0 ? " " : "");
		if (argv[i][0] != '\0' && strpbrk(argv[i], " \t\n\v\"") == NULL)
			text_add(&out, argv[i]);
		else
			text_add_argument(&out, argv[i]);
	}
	return text_take(&out);
}

static int plan_make(const struct process_spec *spec, struct spawn_plan *plan, struct error *err)
{
	char *line CLEANUP_FREE = process_command_line(spec->argv);
	char *program CLEANUP_FREE = NULL;
	int rc = process_find_program(spec->argv[0], &program, err);
	if (rc < 0)
		return rc;
	/* cmd.exe reads their arguments by rules of its own: quoting them safely is not possible. */
	if (text_ends_with(program, ".bat") || text_ends_with(program, ".cmd"))
		return error_set(err, ERROR_UNSUPPORTED,
				 "%s: batch files are not started; name cmd.exe /c yourself",
				 spec->argv[0]);
	plan->program = wide_path(program);
	plan->command_line = wide_from_utf8(line);

	/* The environment, sorted as Windows requires. */
	struct text_list entries CLEANUP_TEXT_LIST = {0};
	struct text block CLEANUP_TEXT = {0};
	rc = process_environment(spec->env, &entries, err);
	if (rc < 0)
		return rc;
	if (entries.count > 0)
		qsort(entries.items, entries.count, sizeof(*entries.items), compare);
	for (size_t i = 0; i < entries.count; i++) {
		wchar_t *wide CLEANUP_FREE = wide_from_utf8(entries.items[i]);
		text_append(&block, (const char *)wide, (wcslen(wide) + 1) * sizeof(*wide));
	}
	/* An empty block is ended by two NULs as well. */
	text_append(&block, (const char *)L"\0", 2 * sizeof(wchar_t));
	plan->environment = (wchar_t *)(void *)text_take(&block);

	if (spec->directory != NULL) {
		if (!file_is_directory(spec->directory))
			return error_set(err, ERROR_NOT_FOUND, "working directory %s: not found",
					 spec->directory);
		plan->directory = wide_path(spec->directory);
	}
	return plan_streams(spec, plan, err);
}

/* Only the handles of the plan are inherited, not all inheritable ones of this process. */
static LPPROC_THREAD_ATTRIBUTE_LIST spawn_attributes(const struct spawn_plan *plan,
						     HANDLE handles[SPAWN_STREAMS])
{
	SIZE_T size = 0;
	size_t count = 0;
	for (size_t i = 0; i < SPAWN_STREAMS; i++) {
		bool repeated = false;
		for (size_t j = 0; j < count; j++)
			repeated = repeated || handles[j] == plan->handles[i];
		if (plan->handles[i] != NULL && plan->handles[i] != INVALID_HANDLE_VALUE &&
		    !repeated)
			handles[count++] = plan->handles[i];
	}
	(void)InitializeProcThreadAttributeList(NULL, 1, 0, &size);
	LPPROC_THREAD_ATTRIBUTE_LIST list = memory_allocate(1, size);
	if (list == NULL || !InitializeProcThreadAttributeList(list, 1, 0, &size) ||
	    !UpdateProcThreadAttribute(list, 0, PROC_THREAD_ATTRIBUTE_HANDLE_LIST, handles,
				       count * sizeof(*handles), NULL, NULL)) {
		free(list);
		return NULL;
	}
	return list;
}

static int create(const struct process_spec *spec, struct spawn_plan *plan,
		  struct process_child *child, struct error *err)
{
	HANDLE inherited[SPAWN_STREAMS] = {NULL};
	STARTUPINFOEXW startup = {.StartupInfo = {.cb = sizeof(startup),
						  .dwFlags = STARTF_USESTDHANDLES,
						  .hStdInput = plan->handles[0],
						  .hStdOutput = plan->handles[1],
						  .hStdError = plan->handles[2]}};
	PROCESS_INFORMATION created = {0};
	LPPROC_THREAD_ATTRIBUTE_LIST attributes = spawn_attributes(plan, inherited);
	if (attributes == NULL)
		return error_windows(err, GetLastError(), "%s: handles to inherit", spec->argv[0]);
	startup.lpAttributeList = attributes;
	/* Suspended until it is in its job, so that nothing it starts escapes. */
	BOOL made =
		CreateProcessW(plan->program, plan->command_line, NULL, NULL, TRUE,
			       CREATE_SUSPENDED | CREATE_NEW_PROCESS_GROUP |
				       CREATE_UNICODE_ENVIRONMENT | EXTENDED_STARTUPINFO_PRESENT,
			       plan->environment, plan->directory, &startup.StartupInfo, &created);
	DWORD reason = GetLastError();
	DeleteProcThreadAttributeList(attributes);
	free(attributes);
	if (!made)
		return error_windows(err, reason, "%s", spec->argv[0]);
	child->ended = (intptr_t)created.hProcess;
	child->id = (int)created.dwProcessId;
	if (!AssignProcessToJobObject(child->job, created.hProcess)) {
		reason = GetLastError();
		(void)TerminateProcess(created.hProcess, 1);
	} else {
		reason = 0;
		(void)ResumeThread(created.hThread);
	}
	(void)CloseHandle(created.hThread);
	return reason != 0 ? error_windows(err, reason, "%s: job object", spec->argv[0]) : 0;
}

int process_spawn(const struct process_spec *spec, struct process_child *child, struct error *err)
{
	/* Closing the last handle of a job ends all its processes. */
	JOBOBJECT_EXTENDED_LIMIT_INFORMATION limits = {
		.BasicLimitInformation.LimitFlags = JOB_OBJECT_LIMIT_KILL_ON_JOB_CLOSE,
	};
	struct spawn_plan plan CLEANUP(plan_free) = {
		.out_read = -1, .err_read = -1, .in_write = -1};
	if (spec->argv == NULL || spec->argv[0] == NULL || spec->argv[0][0] == '\0')
		return error_set(err, ERROR_ARGUMENT, "no program to start");
	int rc = plan_make(spec, &plan, err);
	if (rc == 0) {
		child->job = CreateJobObjectW(NULL, NULL);
		if (child->job == NULL ||
		    !SetInformationJobObject(child->job, JobObjectExtendedLimitInformation, &limits,
					     sizeof(limits)))
			rc = error_windows(err, GetLastError(), "job object");
	}
	if (rc == 0)
		rc = create(spec, &plan, child, err);
	if (rc < 0) {
		if (child->ended != 0)
			(void)CloseHandle((HANDLE)child->ended);
		if (child->job != NULL)
			(void)CloseHandle(child->job);
		*child = (struct process_child){.id = 0};
		return rc;
	}
	child->out_fd = STEAL_FD(plan.out_read);
	child->err_fd = STEAL_FD(plan.err_read);
	child->in_fd = STEAL_FD(plan.in_write);
	return 0;
}

/* Drivers print through the C library and through the standard handle: both become stderr. */
int process_take_output(int *fd, struct error *err)
{
	int output CLEANUP_FD = _dup(1);
	if (output < 0)
		return error_system(err, EBADF, "standard output");
	if (!SetHandleInformation((HANDLE)_get_osfhandle(output), HANDLE_FLAG_INHERIT, 0) ||
	    _setmode(output, _O_BINARY) < 0)
		return error_windows(err, GetLastError(), "standard output");
	if (_dup2(2, 1) < 0)
		(void)_close(1); /* stderr is closed: nobody reads it */
	(void)SetStdHandle(STD_OUTPUT_HANDLE, GetStdHandle(STD_ERROR_HANDLE));
	*fd = STEAL_FD(output);
	return 0;
}
