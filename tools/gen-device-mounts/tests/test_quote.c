/* SPDX-License-Identifier: MIT */
/* What a shell makes of a quoted line are the arguments again. */
#include "base/cleanup.h"
#include "base/file.h"
#include "base/process.h"
#include "base/tests/unit.h"
#include "tools/gen-device-mounts/shell.h"

static int quote_one(struct text *out, enum shell shell, const char *argument, struct error *err)
{
	struct text_list list CLEANUP_TEXT_LIST = {0};
	text_list_add(&list, argument);
	return shell_quote(out, shell, &list, err);
}

static const char *const arguments[] = {
	"--device",
	"vpci-location-path://PCIROOT(0)#PCI(1B00)",
	"src=C:\\Windows\\System32\\a.dll,dst=C:\\Windows\\System32\\b.dll,options=ro",
	"\"src=C:\\a,b\\c.dll\",dst=C:\\x",
	"PCI\\VEN_10DE&DEV_1EB8&SUBSYS_12A210DE&REV_A1\\3&13C0B0C5&1&D8",
	"",
	" ",
	"a'b",
	"''",
	"a\"b",
	"\\\"",
	"C:\\with blank\\",
	"C:\\plain\\",
	"two\\\\",
	"%PATH%",
	"100% & more | less > x < y ^ ( )",
	"$HOME `id` $(id) !x ~ * ? [a] {b,c} #d ; \\n",
	"\xe6\xbc\xa2\xe5\xad\x97 \xe2\x80\x98quoted\xe2\x80\x99",
};

/* By the rules of cmd (carets and double quotes; variables that do not exist stay as they are),
 * then those of the C runtime: the inverse of what shell.c does, written after the documentation.
 */
static void split_cmd(const char *line, struct text_list *out)
{
	struct text plain CLEANUP_TEXT = {0};
	bool quoted = false;
	for (const char *at = line; *at != '\0'; at++) {
		if (*at == '"')
			quoted = !quoted;
		if (*at == '^' && !quoted && at[1] != '\0') {
			at++;
		} else if (!quoted) {
			/* None of these may be left for cmd itself. */
			CU_ASSERT_PTR_NULL(strchr("&|<>()", *at));
		}
		text_append(&plain, at, 1);
	}
	for (const char *at = text_string(&plain); *at != '\0';) {
		struct text word CLEANUP_TEXT = {0};
		bool inside = false;
		for (; *at != '\0' && (inside || *at != ' ');) {
			size_t backslashes = strspn(at, "\\");
			bool quote = at[backslashes] == '"';
			at += backslashes;
			for (size_t i = 0; i < (quote ? backslashes / 2 : backslashes); i++)
				text_add(&word, "\\");
			if (quote && backslashes % 2 == 1)
				text_add(&word, "\"");
			else if (quote)
				inside = !inside;
			else if (*at != '\0' && (inside || *at != ' '))
				text_append(&word, at, 1);
			else
				break;
			at++;
		}
		CU_ASSERT_FALSE(inside);
		text_list_add(out, text_string(&word));
		at += *at == ' ' ? 1 : 0;
	}
}

static void test_cmd(void)
{
	struct text_list wanted CLEANUP_TEXT_LIST = {0};
	struct text_list seen CLEANUP_TEXT_LIST = {0};
	struct text line CLEANUP_TEXT = {0};
	struct error err = {0};
	for (size_t i = 0; i < ARRAY_SIZE(arguments); i++)
		text_list_add(&wanted, arguments[i]);
	UNIT_INT(shell_quote(&line, SHELL_CMD, &wanted, &err), 0);
	split_cmd(text_string(&line), &seen);
	UNIT_INT(seen.count, wanted.count);
	for (size_t i = 0; i < seen.count && i < wanted.count; i++)
		UNIT_STRING(seen.items[i], wanted.items[i]);
	UNIT_INT(quote_one(&line, SHELL_CMD, "a\nb", &err), ERROR_UNSUPPORTED);
	UNIT_CONTAINS(err.text, "line break");
}

static void expect(enum shell shell, const char *argument, const char *wanted)
{
	struct text line CLEANUP_TEXT = {0};
	struct error err = {0};
	UNIT_INT(quote_one(&line, shell, argument, &err), 0);
	UNIT_STRING(text_string(&line), wanted);
}

static void test_forms(void)
{
	expect(SHELL_SH, "/dev/dri/card0:rw", "/dev/dri/card0:rw");
	expect(SHELL_SH, "a'b", "'a'\\''b'");
	expect(SHELL_CMD, "C:\\a b\\", "\"C:\\a b\\\\\"");
	expect(SHELL_CMD, "C:\\a\\", "C:\\a\\");
	expect(SHELL_CMD, "%PATH%", "^\"^%PATH^%^\"");
	expect(SHELL_CMD, "a\"b", "^\"a\\^\"b^\"");
	expect(SHELL_POWERSHELL, "--device", "--device");
	expect(SHELL_POWERSHELL, "-x.y", "'-x.y'");
	expect(SHELL_POWERSHELL, "vpci-location-path://PCIROOT(0)#PCI(1B00)",
	       "'vpci-location-path://PCIROOT(0)#PCI(1B00)'");
	expect(SHELL_POWERSHELL, "a'b $c `d", "'a''b $c `d'");
	expect(SHELL_POWERSHELL, "\xe2\x80\x98x\xe2\x80\x9b\xe2\x80\x9c",
	       "'\xe2\x80\x98\xe2\x80\x98x\xe2\x80\x9b\xe2\x80\x9b\xe2\x80\x9c'");
	expect(SHELL_POWERSHELL, "\xe2\x80", "'\xe2\x80'");
}

static void expect_powershell_cannot(const char *argument, const char *why)
{
	struct text line CLEANUP_TEXT = {0};
	struct error err = {0};
	UNIT_INT(quote_one(&line, SHELL_POWERSHELL, argument, &err), ERROR_UNSUPPORTED);
	UNIT_CONTAINS(err.text, why);
}

static void test_what_powershell_cannot(void)
{
	expect_powershell_cannot("", "nothing");
	expect_powershell_cannot("a\"b", "double quote");
	expect_powershell_cannot("C:\\a b\\", "backslash at its end");
	expect(SHELL_POWERSHELL, "C:\\a b", "'C:\\a b'");
}

/* Of a recorded node of a stranger: the terminal would show another line than the one that runs. */
static void test_what_terminals_act_on(void)
{
	static const char *const hidden[] = {"a\x1b[2K\rb", "a\x7f\x08",
					     "a\xc2\x9b"
					     "1K",
					     "a\xe2\x80\xae"
					     "b"};
	for (enum shell shell = SHELL_SH; shell <= SHELL_POWERSHELL; shell++) {
		for (size_t i = 0; i < ARRAY_SIZE(hidden); i++) {
			struct text line CLEANUP_TEXT = {0};
			struct error err = {0};
			UNIT_INT(quote_one(&line, shell, hidden[i], &err), ERROR_UNSUPPORTED);
			UNIT_CONTAINS(err.text, "--format json");
		}
	}
}

#if defined(_WIN32)
/* The line as a batch file has it: each % twice. Bytes beyond ASCII depend on the code page there.
 */
static bool add_to_batch(struct text *batch, const char *argument)
{
	struct text quoted CLEANUP_TEXT = {0};
	for (const char *at = argument; *at != '\0'; at++) {
		if ((unsigned char)*at > 0x7e)
			return false;
	}
	UNIT_INT(quote_one(&quoted, SHELL_CMD, argument, NULL), 0);
	text_add(batch, " ");
	for (const char *at = text_string(&quoted); *at != '\0'; at++)
		text_append(batch, *at == '%' ? "%%" : at, *at == '%' ? 2 : 1);
	return true;
}

/* cmd itself is asked. */
static void test_shell(void)
{
	static const char path[] = GPUCERT_BINARY_DIR "/tests/quote.bat";
	struct text batch CLEANUP_TEXT = {0};
	struct text wanted CLEANUP_TEXT = {0};
	struct text file CLEANUP_TEXT = {0};
	struct process_result result = {0};
	const char *argv[] = {"cmd.exe", "/c", NULL, NULL};
	struct process_spec spec = {.argv = argv, .timeout_ms = 300000};
	text_add(&batch, "@echo off\r\n" CONTAINER_TOOL);
	for (char *at = batch.data; *at != '\0'; at++)
		*at = *at == '/' ? '\\' : *at;
	for (size_t i = 0; i < ARRAY_SIZE(arguments); i++) {
		if (add_to_batch(&batch, arguments[i]))
			text_addf(&wanted, "<%s>\n", arguments[i]);
	}
	text_add(&batch, "\r\n");
	UNIT_INT(file_write_atomic(path, text_string(&batch), batch.size, 0644, NULL), 0);
	text_add(&file, path);
	for (char *at = file.data; *at != '\0'; at++)
		*at = *at == '/' ? '\\' : *at;
	argv[2] = text_string(&file);
	UNIT_INT(process_run(&spec, &result, NULL), 0);
	UNIT_STRING(text_string(&result.out), text_string(&wanted));
	process_result_free(&result);
	(void)remove(path);
}
#else
/* The shell itself is asked. */
static void test_shell(void)
{
	struct text_list all CLEANUP_TEXT_LIST = {0};
	struct text line CLEANUP_TEXT = {0};
	struct text wanted CLEANUP_TEXT = {0};
	struct process_result result = {0};
	const char *argv[] = {"/bin/sh", "-c", NULL, NULL};
	struct process_spec spec = {.argv = argv, .timeout_ms = 300000};
	for (size_t i = 0; i < ARRAY_SIZE(arguments); i++) {
		text_list_add(&all, arguments[i]);
		text_addf(&wanted, "<%s>\n", arguments[i]);
	}
	text_list_add(&all, "line\nbreak");
	text_add(&wanted, "<line\nbreak>\n");
	text_add(&line, "printf '<%s>\\n' ");
	UNIT_INT(shell_quote(&line, SHELL_SH, &all, NULL), 0);
	argv[2] = text_string(&line);
	UNIT_INT(process_run(&spec, &result, NULL), 0);
	UNIT_STRING(text_string(&result.out), text_string(&wanted));
	process_result_free(&result);
}
#endif

UNIT_MAIN("quote", {"the shell itself", test_shell}, {"cmd", test_cmd}, {"forms", test_forms},
	  {"what PowerShell cannot", test_what_powershell_cannot},
	  {"what terminals act on", test_what_terminals_act_on})
