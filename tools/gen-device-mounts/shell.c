/* SPDX-License-Identifier: MIT */
#include "tools/gen-device-mounts/shell.h"

#include <signal.h>
#include <string.h>
#include <uv.h>

#define LETTERS_AND_DIGITS "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789"

static bool only_holds(const char *string, const char *characters)
{
	return string[strspn(string, characters)] == '\0';
}

static int add_cmd(struct text *out, const char *argument, struct error *err)
{
	if (strpbrk(argument, "\r\n") != NULL)
		return error_set(err, ERROR_UNSUPPORTED,
				 "cmd cannot pass an argument with a line break in it");
	if (argument[0] != '\0' && only_holds(argument, LETTERS_AND_DIGITS "_@+:./\\#-")) {
		text_add(out, argument);
		return 0;
	}
	if (strpbrk(argument, "\"%") == NULL) {
		text_add_argument(out, argument);
		return 0;
	}

	/* Between quotes cmd leaves everything as it is, except a quote, which ends them, and variables.
	 * An argument with one of these is therefore never quoted for cmd: each special character is
	 * escaped, so that no variable has the resulting name. */
	struct text quoted CLEANUP_TEXT = {0};
	text_add_argument(&quoted, argument);
	for (const char *at = text_string(&quoted); *at != '\0'; at++) {
		if (strchr("()%!^\"<>&|", *at) != NULL)
			text_add(out, "^");
		text_append(out, at, 1);
	}
	return 0;
}

/* In single quotes. At a quote sh ends the string; PowerShell reads two as one, also typographic ones,
 * U+2018 to U+201B. */
static void add_single_quoted(struct text *out, const char *argument, bool powershell)
{
	text_add(out, "'");
	while (*argument != '\0') {
		const unsigned char *at = (const unsigned char *)argument;
		const bool typographic = powershell && at[0] == 0xe2 && at[1] == 0x80 &&
					 at[2] >= 0x98 && at[2] <= 0x9b;
		const size_t size = typographic ? 3 : 1;
		if (*at == '\'' && !powershell)
			text_add(out, "'\\'");
		else if (*at == '\'' || typographic)
			text_append(out, argument, size);
		text_append(out, argument, size);
		argument += size;
	}
	text_add(out, "'");
}

static int add_powershell(struct text *out, const char *argument, struct error *err)
{
	const size_t size = strlen(argument);
	const char *objection = NULL;
	bool bare = argument[0] != '-' && only_holds(argument, LETTERS_AND_DIGITS "_./\\:-");

	/* Windows PowerShell puts quotes around an argument with spaces without escaping backslashes
	 * and quotes in it, and drops an empty one. */
	if (size == 0)
		objection = "nothing in it";
	else if (strchr(argument, '"') != NULL)
		objection = "a double quote in it";
	else if (strpbrk(argument, " \t") != NULL && argument[size - 1] == '\\')
		objection = "a blank in it and a backslash at its end";
	if (objection != NULL)
		return error_set(err, ERROR_UNSUPPORTED,
				 "Windows PowerShell cannot pass an argument with %s: %s",
				 objection, argument);

	if (text_starts_with(argument, "--"))
		bare = only_holds(argument + 2, LETTERS_AND_DIGITS "-");
	if (bare)
		text_add(out, argument);
	else
		add_single_quoted(out, argument, true);
	return 0;
}

static int add_sh(struct text *out, const char *argument, struct error *err)
{
	(void)err;
	if (argument[0] != '\0' && only_holds(argument, LETTERS_AND_DIGITS "_@%+=:,./-"))
		text_add(out, argument);
	else
		add_single_quoted(out, argument, false);
	return 0;
}

int shell_quote(struct text *out, enum shell shell, const struct text_list *arguments,
		struct error *err)
{
	static int (*const add[])(struct text * out, const char *argument, struct error *err) = {
		[SHELL_SH] = add_sh,
		[SHELL_CMD] = add_cmd,
		[SHELL_POWERSHELL] = add_powershell,
	};

	for (size_t i = 0; i < arguments->count; i++) {
		const char *argument = arguments->items[i];
		const size_t size = strlen(argument);
		text_add(out, i > 0 ? " " : "");

		/* A pasted line must run as the terminal shows it. */
		for (size_t at = 0, length = 0; at<size; at += length> 0 ? length : 1) {
			uint32_t code = 0;
			length = text_character(argument + at, size - at, &code);
			if (length != 0 && text_is_hazardous(code) && code != '\t' && code != '\n')
				return error_set(err, ERROR_UNSUPPORTED,
						 "a terminal would not show this argument as it "
						 "is, use --format json: %s",
						 argument);
		}
		int rc = add[shell](out, argument, err);
		if (rc < 0)
			return rc;
	}
	return 0;
}

enum { STREAMS = 3, SIGNAL_BASE = 128 };

struct child {
	uv_process_t process;
	uv_signal_t terminate;
	int code;
};

static void close_child(struct child *child)
{
	uv_close((uv_handle_t *)&child->process, NULL);
	uv_close((uv_handle_t *)&child->terminate, NULL);
}

static void on_child_exit(uv_process_t *process, int64_t status, int signal)
{
	struct child *child = process->data;
	child->code = signal != 0 ? SIGNAL_BASE + signal : (int)status;
	close_child(child);
}

static void on_terminate(uv_signal_t *handle, int number)
{
	struct child *child = handle->data;
	(void)uv_process_kill(&child->process, number);
}

int shell_run(const char *const *argv, int *code, struct error *err)
{
	struct child child = {0};
	uv_loop_t loop = {0};
	uv_stdio_container_t streams[STREAMS] = {
		{.flags = UV_INHERIT_FD, .data.fd = 0},
		{.flags = UV_INHERIT_FD, .data.fd = 1},
		{.flags = UV_INHERIT_FD, .data.fd = 2},
	};
	const uv_process_options_t options = {
		.exit_cb = on_child_exit,
		.file = argv[0],
		/* libuv only reads the strings, but declares them without const. */
		.args = (char **)(uintptr_t)argv,
		.stdio_count = STREAMS,
		.stdio = streams,
	};

	int status = uv_loop_init(&loop);
	if (status < 0)
		return error_uv(err, status, "event loop");
	child.process.data = &child;
	child.terminate.data = &child;
	/* The terminal signals every process of the group; libuv gives the child the default action. */
	(void)signal(SIGINT, SIG_IGN);
	(void)uv_signal_init(&loop, &child.terminate);
	(void)uv_signal_start(&child.terminate, on_terminate, SIGTERM);
	status = uv_spawn(&loop, &child.process, &options);
	if (status < 0)
		close_child(&child);
	(void)uv_run(&loop, UV_RUN_DEFAULT);
	(void)uv_loop_close(&loop);
	if (status < 0)
		return error_uv(err, status, "cannot start '%s'", argv[0]);
	*code = child.code;
	return 0;
}
