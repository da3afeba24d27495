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

/* Between quotes cmd takes everything as it is, but for the quote that ends it and variables. So
 * with one of these in it nothing is left between quotes as cmd sees it: each special character is
 * escaped by itself, and what looks like a variable has a name that none has. */
static void add_cmd_escaped(struct text *out, const char *argument)
{
	struct text quoted CLEANUP_TEXT = {0};
	text_add_argument(&quoted, argument);
	for (const char *at = text_string(&quoted); *at != '\0'; at++) {
		if (strchr("()%!^\"<>&|", *at) != NULL)
			text_add(out, "^");
		text_append(out, at, 1);
	}
	out->failed = out->failed || quoted.failed;
}

static int add_cmd(struct text *out, const char *argument, struct error *err)
{
	if (strpbrk(argument, "\r\n") != NULL)
		return error_set(err, ERROR_UNSUPPORTED,
				 "cmd cannot pass an argument with a line break in it");
	if (argument[0] != '\0' && only_holds(argument, LETTERS_AND_DIGITS "_@+:./\\#-"))
		text_add(out, argument);
	else if (strpbrk(argument, "\"%") != NULL)
		add_cmd_escaped(out, argument);
	else
		text_add_argument(out, argument);
	return 0;
}

/* PowerShell ends a string also at typographic quotes, U+2018 to U+201B. */
static size_t powershell_quote(const char *at)
{
	bool typographic = (unsigned char)at[0] == 0xe2 && (unsigned char)at[1] == 0x80 &&
			   (unsigned char)at[2] >= 0x98 && (unsigned char)at[2] <= 0x9b;
	return *at == '\'' ? 1 : typographic ? 3 : 0;
}

/* In single quotes, where sh ends the string for a quote, and PowerShell takes two for one. */
static void add_single_quoted(struct text *out, const char *argument, bool powershell)
{
	text_add(out, "'");
	while (*argument != '\0') {
		size_t quote = powershell ? powershell_quote(argument) : *argument == '\'';
		size_t size = quote > 0 ? quote : 1;
		if (quote > 0)
			text_append(out, powershell ? argument : "'\\'", powershell ? size : 3);
		text_append(out, argument, size);
		argument += size;
	}
	text_add(out, "'");
}

/* Windows PowerShell puts quotes around an argument with blanks, without a thought for backslashes
 * and quotes in it, and leaves an empty one out. */
static const char *powershell_objection(const char *argument)
{
	size_t size = strlen(argument);
	if (size == 0)
		return "nothing in it";
	if (strchr(argument, '"') != NULL)
		return "a double quote in it";
	if (strpbrk(argument, " \t") != NULL && argument[size - 1] == '\\')
		return "a blank in it and a backslash at its end";
	return NULL;
}

static bool powershell_bare(const char *argument)
{
	if (text_starts_with(argument, "--"))
		return only_holds(argument + 2, LETTERS_AND_DIGITS "-");
	return argument[0] != '-' && only_holds(argument, LETTERS_AND_DIGITS "_./\\:-");
}

static int add_powershell(struct text *out, const char *argument, struct error *err)
{
	const char *objection = powershell_objection(argument);
	if (objection != NULL)
		return error_set(err, ERROR_UNSUPPORTED,
				 "Windows PowerShell cannot pass an argument with %s: %s",
				 objection, argument);
	if (powershell_bare(argument))
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

/* Whoever pastes a line sees what runs only when the terminal shows it as it is. */
static int check_shown(const char *argument, struct error *err)
{
	const size_t size = strlen(argument);
	uint32_t code = 0;
	for (size_t i = 0, length = 0; i<size; i += length> 0 ? length : 1) {
		length = text_character(argument + i, size - i, &code);
		if (length != 0 && text_is_hazardous(code) && code != '\t' && code != '\n')
			return error_set(err, ERROR_UNSUPPORTED,
					 "a terminal would not show this argument as it is, use "
					 "--format json: %s",
					 argument);
	}
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
	int rc = 0;
	for (size_t i = 0; rc == 0 && i < arguments->count; i++) {
		text_add(out, i > 0 ? " " : "");
		rc = check_shown(arguments->items[i], err);
		if (rc == 0)
			rc = add[shell](out, arguments->items[i], err);
	}
	return rc;
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

static int start(uv_loop_t *loop, const char *const *argv, struct child *child)
{
	uv_stdio_container_t streams[STREAMS] = {
		{.flags = UV_INHERIT_FD, .data.fd = 0},
		{.flags = UV_INHERIT_FD, .data.fd = 1},
		{.flags = UV_INHERIT_FD, .data.fd = 2},
	};
	uv_process_options_t options = {
		.exit_cb = on_child_exit,
		.file = argv[0],
		/* libuv reads the strings alone, but has them without const. */
		.args = (char **)(uintptr_t)argv,
		.stdio_count = STREAMS,
		.stdio = streams,
	};
	child->process.data = child;
	child->terminate.data = child;
	/* The terminal tells every process of the group; libuv gives the child the default action. */
	(void)signal(SIGINT, SIG_IGN);
	(void)uv_signal_init(loop, &child->terminate);
	(void)uv_signal_start(&child->terminate, on_terminate, SIGTERM);
	return uv_spawn(loop, &child->process, &options);
}

int shell_run(const char *const *argv, int *code, struct error *err)
{
	struct child child = {0};
	uv_loop_t loop = {0};
	int status = uv_loop_init(&loop);
	if (status < 0)
		return error_uv(err, status, "event loop");
	status = start(&loop, argv, &child);
	if (status < 0)
		close_child(&child);
	(void)uv_run(&loop, UV_RUN_DEFAULT);
	(void)uv_loop_close(&loop);
	if (status < 0)
		return error_uv(err, status, "cannot start '%s'", argv[0]);
	*code = child.code;
	return 0;
}
