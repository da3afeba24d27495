/* SPDX-License-Identifier: MIT */
#include "base/options_internal.h"

#include "base/cleanup.h"
#include "base/file.h"
#include "base/process.h"
#include "base/tests/unit.h"

#include <fcntl.h>
#include <unistd.h>
#include <uv.h>

/* NULL: not set. */
static void set_variable(const char *name, const char *value)
{
	UNIT_INT(value != NULL ? uv_os_setenv(name, value) : uv_os_unsetenv(name), 0);
}

static struct {
	bool verbose;
	const char *directory;
	const char *launcher;
	int64_t size;
	int64_t device;
	struct text_list tags;
	const char *out;
	bool quiet;
} seen;

static const char *const launchers[] = {"containerd", "process", NULL};

static const struct option_spec common_options[] = {
	{.name = "verbose",
	 .letter = 'v',
	 .type = OPTION_FLAG,
	 .target = &seen.verbose,
	 .help = "Tell more.",
	 .env = "GPUCERT_TEST_VERBOSE"},
	{.name = "plugin-dir",
	 .letter = 'd',
	 .type = OPTION_STRING,
	 .target = &seen.directory,
	 .value = "DIR",
	 .help = "Where the plugin's socket lies: 'here' [or there]."},
	{.name = NULL},
};

static const struct option_spec run_options[] = {
	{.name = "launcher",
	 .type = OPTION_CHOICE,
	 .target = &seen.launcher,
	 .choices = launchers,
	 .value = "NAME",
	 .help = "What starts the probes.",
	 .env = "GPUCERT_TEST_LAUNCHER"},
	{.name = "size",
	 .letter = 'n',
	 .type = OPTION_INT,
	 .target = &seen.size,
	 .min = 1,
	 .max = 100,
	 .value = "N",
	 .help = "Elements.",
	 .env = "GPUCERT_TEST_SIZE"},
	{.name = "device",
	 .type = OPTION_INT,
	 .target = &seen.device,
	 .max = INT64_MAX,
	 .value = "N",
	 .help = "The only device."},
	{.name = "tag",
	 .letter = 't',
	 .type = OPTION_LIST,
	 .target = &seen.tags,
	 .value = "TAG",
	 .help = "Only checks with this tag.",
	 .env = "GPUCERT_TEST_TAGS"},
	{.name = "out",
	 .type = OPTION_STRING,
	 .target = &seen.out,
	 .value = "FILE",
	 .help = "Where the report goes."},
	{.name = "quiet",
	 .letter = 'q',
	 .type = OPTION_FLAG,
	 .target = &seen.quiet,
	 .help = "Say nothing."},
	{.name = NULL},
};

static int run_called;

static int run_run(const struct text_list *arguments)
{
	run_called++;
	return 10 + (int)arguments->count;
}

static const struct command_spec commands[] = {
	{.name = "run",
	 .summary = "Run checks",
	 .arguments = "[CHECK...]",
	 .description = "Runs the checks.\n\n.Starts with a dot and has back\\slashes.",
	 .options = run_options,
	 .examples = (const char *const[]){"tool run --size 5", "runs five", NULL},
	 .run = run_run},
	{.name = "compare",
	 .summary = "Compare reports",
	 .arguments = "OLD-FILE NEW-FILE",
	 .run = run_run},
	{.name = "image build",
	 .summary = "Build an image",
	 .arguments = "[FAMILY...]",
	 .options = run_options,
	 .run = run_run},
	{.name = "image check", .summary = "Check an image", .arguments = "FILE", .run = run_run},
	{.name = NULL},
};

static const struct command_spec tool = {
	.name = "test-tool",
	.summary = "Tests option tables",
	.description = "A tool for tests.",
	.options = common_options,
	.commands = commands,
	.exit_codes = (const char *const[]){"0", "fine", "2", "usage", NULL},
};

static const struct command_spec single = {
	.name = "test-single",
	.summary = "A program without commands",
	.arguments = "[FILE]",
	.options = run_options,
	.run = run_run,
};

static void reset(void)
{
	text_list_free(&seen.tags);
	memset(&seen, 0, sizeof(seen));
	seen.launcher = "containerd";
	seen.size = 42;
	seen.device = -1;
	run_called = 0;
}

/* argc and argv; main() is given strings that may be written to, though nobody does. */
#define WORDS(...)                                                                                 \
	(int)ARRAY_SIZE(((const char *const[]){"x", __VA_ARGS__})),                                \
		(char **)(uintptr_t)(const char *const[])                                          \
	{                                                                                          \
		"x", __VA_ARGS__, NULL                                                             \
	}

/* Parsing alone: fills the targets, puts positional arguments into `arguments`. */
static int parse(int argc, char **argv, struct text_list *arguments, struct error *err)
{
	struct options_line line CLEANUP(options_line_free) = {.program = &single};
	int rc = options_line_read(&line, argc, argv, err);
	if (rc == 0)
		rc = options_check_arguments(single.arguments, &line.arguments, err);
	if (rc == 0)
		rc = options_line_apply(&line, err);
	for (size_t i = 0; rc == 0 && i < line.arguments.count; i++)
		text_list_add(arguments, line.arguments.items[i]);
	return rc;
}

#define PARSE(arguments, err, ...) parse(WORDS(__VA_ARGS__), arguments, err)

static void test_every_form(void)
{
	struct text_list arguments CLEANUP_TEXT_LIST = {0};
	reset();
	UNIT_INT(PARSE(&arguments, NULL, "--size", "7", "-qttwo", "--tag=one,1", "file",
		       "--out=", "-t", "-3"),
		 0);
	UNIT_INT(seen.size, 7);
	CU_ASSERT_TRUE(seen.quiet);
	UNIT_STRING(seen.out, "");
	UNIT_INT(seen.tags.count, 3);
	UNIT_STRING(seen.tags.items[0], "two");
	UNIT_STRING(seen.tags.items[1], "one,1");
	UNIT_STRING(seen.tags.items[2], "-3");
	UNIT_INT(arguments.count, 1);
	UNIT_STRING(arguments.items[0], "file");
	UNIT_STRING(seen.launcher, "containerd");
}

static void test_last_value_counts_and_flags_can_be_off(void)
{
	struct text_list arguments CLEANUP_TEXT_LIST = {0};
	reset();
	UNIT_INT(PARSE(&arguments, NULL, "-n1", "-n", "2", "--quiet", "--quiet=false"), 0);
	UNIT_INT(seen.size, 2);
	CU_ASSERT_FALSE(seen.quiet);
}

static void test_double_dash(void)
{
	struct text_list arguments CLEANUP_TEXT_LIST = {0};
	reset();
	UNIT_INT(PARSE(&arguments, NULL, "-q", "--", "--size"), 0);
	UNIT_STRING(arguments.items[0], "--size");
	UNIT_INT(seen.size, 42);
	text_list_free(&arguments);
	UNIT_INT(PARSE(&arguments, NULL, "-"), 0);
	UNIT_STRING(arguments.items[0], "-");
}

static void test_errors_name_the_place(void)
{
	static const struct {
		const char *words[2];
		const char *text;
	} cases[] = {
		{{"--sise", "1"}, "unknown option '--sise'; did you mean '--size'?"},
		{{"--laun", "x"}, "unknown option '--laun'; did you mean '--launcher'?"},
		{{"--xyzzy"}, "unknown option '--xyzzy'"},
		{{"-x"}, "unknown option '-x'"},
		{{"--size"}, "option '--size' needs a value: N"},
		{{"-n"}, "option '--size' needs a value: N"},
		{{"--size", "1x"}, "option '--size': '1x' is not a whole number"},
		{{"--size", "101"}, "option '--size': 101 is outside 1 to 100"},
		{{"--launcher", "proces"},
		 "option '--launcher': 'proces' is not one of containerd, process; did you mean "
		 "'process'?"},
		{{"--quiet=perhaps"}, "option '--quiet': 'perhaps' is neither true nor false"},
		{{"--help=no"}, "option '--help' takes no value"},
		{{"one", "two"}, "unexpected argument 'two'"},
	};
	for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
		struct text_list arguments CLEANUP_TEXT_LIST = {0};
		const char *argv[] = {"x", cases[i].words[0], cases[i].words[1], NULL};
		struct error err = {0};
		int argc = cases[i].words[1] != NULL ? 3 : 2;
		reset();
		UNIT_INT(parse(argc, (char **)(uintptr_t)argv, &arguments, &err), ERROR_ARGUMENT);
		UNIT_INT(err.code, ERROR_ARGUMENT);
		UNIT_STRING(err.text, cases[i].text);
		UNIT_INT(arguments.count, 0);
	}
}

static void test_environment(void)
{
	struct text_list arguments CLEANUP_TEXT_LIST = {0};
	struct error err = {0};
	reset();
	set_variable("GPUCERT_TEST_SIZE", "9");
	set_variable("GPUCERT_TEST_TAGS", "a,b");
	set_variable("GPUCERT_TEST_LAUNCHER", "");
	UNIT_INT(PARSE(&arguments, NULL, "-q"), 0);
	UNIT_INT(seen.size, 9);
	UNIT_INT(seen.tags.count, 2);
	UNIT_STRING(seen.launcher, "containerd");
	UNIT_INT(PARSE(&arguments, NULL, "-n8", "-tc"), 0);
	UNIT_INT(seen.size, 8);
	UNIT_INT(seen.tags.count, 1);
	set_variable("GPUCERT_TEST_SIZE", "many");
	UNIT_INT(PARSE(&arguments, NULL, "-n8"), 0); /* not looked at when given */
	UNIT_INT(PARSE(&arguments, &err, "-q"), ERROR_ARGUMENT);
	UNIT_STRING(err.text,
		    "environment variable GPUCERT_TEST_SIZE: 'many' is not a whole number");
	set_variable("GPUCERT_TEST_SIZE", NULL);
	set_variable("GPUCERT_TEST_TAGS", NULL);
	set_variable("GPUCERT_TEST_LAUNCHER", NULL);
}

static void test_nothing_is_set_by_a_wrong_line(void)
{
	struct text_list arguments CLEANUP_TEXT_LIST = {0};
	reset();
	UNIT_INT(PARSE(&arguments, NULL, "--size", "7", "--bogus"), ERROR_ARGUMENT);
	UNIT_INT(seen.size, 42);
}

/* options_run_line() in a child, because it writes to the standard streams. */
struct answer {
	int code;
	char out[16384];
	char err[1024];
};

static void read_back(FILE *file, char *out, size_t size)
{
	size_t count = 0;
	rewind(file);
	count = fread(out, 1, size - 1, file);
	out[count] = '\0';
	(void)fclose(file);
}

static void call_main(struct answer *answer, const struct command_spec *program, int argc,
		      char **argv)
{
	FILE *out = tmpfile();
	FILE *err = tmpfile();
	int saved_out = dup(STDOUT_FILENO);
	int saved_err = dup(STDERR_FILENO);
	(void)fflush(stdout);
	(void)dup2(fileno(out), STDOUT_FILENO);
	(void)dup2(fileno(err), STDERR_FILENO);
	reset();
	answer->code = options_run_line(program, argc, argv);
	(void)fflush(stdout);
	(void)dup2(saved_out, STDOUT_FILENO);
	(void)dup2(saved_err, STDERR_FILENO);
	(void)close(saved_out);
	(void)close(saved_err);
	read_back(out, answer->out, sizeof(answer->out));
	read_back(err, answer->err, sizeof(answer->err));
}

#define MAIN(answer, program, ...) call_main(answer, program, WORDS(__VA_ARGS__))

static void test_main_runs_commands(void)
{
	static struct answer answer;
	MAIN(&answer, &tool, "-v", "run", "--size=5", "-d", "here", "check");
	UNIT_INT(answer.code, 11);
	UNIT_INT(run_called, 1);
	UNIT_INT(seen.size, 5);
	CU_ASSERT_TRUE(seen.verbose);
	UNIT_STRING(seen.directory, "here");
	MAIN(&answer, &tool, "compare", "old", "new");
	UNIT_INT(answer.code, 12);
	MAIN(&answer, &single, "one");
	UNIT_INT(answer.code, 11);
}

static void test_main_usage_errors(void)
{
	static struct answer answer;
	MAIN(&answer, &tool, "help", "run");
	UNIT_INT(answer.code, 0);
	CU_ASSERT(text_starts_with(answer.out, "Usage: test-tool run"));
	MAIN(&answer, &tool, "rnu");
	UNIT_INT(answer.code, OPTIONS_EXIT_USAGE);
	UNIT_STRING(answer.err, "test-tool: unknown command 'rnu'; did you mean 'run'?\n"
				"Try 'test-tool --help'.\n");
	UNIT_STRING(answer.out, "");
	MAIN(&answer, &tool, "-v");
	UNIT_CONTAINS(answer.err, "a command is needed");
	MAIN(&answer, &tool, "--size", "5", "run");
	UNIT_CONTAINS(answer.err, "option '--size' belongs to 'run' and goes behind it");
	MAIN(&answer, &tool, "compare", "old");
	UNIT_CONTAINS(answer.err, "missing argument: NEW-FILE");
	UNIT_CONTAINS(answer.err, "Try 'test-tool compare --help'.");
	MAIN(&answer, &tool, "compare", "old", "new", "newer");
	UNIT_CONTAINS(answer.err, "unexpected argument 'newer'");
	MAIN(&answer, &tool, "run", "--\x1b[31m\nred");
	UNIT_CONTAINS(answer.err, "unknown option '--\\x1b[31m\\nred'");
	UNIT_INT(run_called, 0);
}

static void test_groups_of_commands(void)
{
	static struct answer answer;
	MAIN(&answer, &tool, "image", "build", "--size=5", "compute", "video");
	UNIT_INT(answer.code, 12);
	UNIT_INT(seen.size, 5);
	MAIN(&answer, &tool, "image", "-v", "check", "file");
	UNIT_INT(answer.code, 11);
	MAIN(&answer, &tool, "image");
	UNIT_INT(answer.code, OPTIONS_EXIT_USAGE);
	UNIT_STRING(answer.err,
		    "test-tool: image: a command is needed\nTry 'test-tool image --help'.\n");
	MAIN(&answer, &tool, "image", "biuld");
	UNIT_STRING(answer.err,
		    "test-tool: unknown command 'image biuld'; did you mean 'image build'?\n"
		    "Try 'test-tool image --help'.\n");
	MAIN(&answer, &tool, "build");
	UNIT_CONTAINS(answer.err, "unknown command 'build'");
	MAIN(&answer, &tool, "image", "check");
	UNIT_CONTAINS(answer.err, "missing argument: FILE");
	UNIT_CONTAINS(answer.err, "Try 'test-tool image check --help'.");
	MAIN(&answer, &tool, "image", "--help");
	UNIT_STRING(answer.out, "Usage: test-tool image COMMAND ...\n"
				"\n"
				"Commands:\n"
				"  image build  Build an image\n"
				"  image check  Check an image\n"
				"\n"
				"'test-tool image COMMAND --help' shows the help of a command.\n");
	MAIN(&answer, &tool, "image", "build", "--help");
	UNIT_CONTAINS(answer.out, "Usage: test-tool image build [OPTIONS] [FAMILY...]\n");
	MAIN(&answer, &tool, "--generate=man");
	UNIT_CONTAINS(answer.out, ".SS image build\n");
}

static void test_main_answers(void)
{
	static struct answer answer;
	MAIN(&answer, &tool, "--version");
	UNIT_INT(answer.code, 0);
	UNIT_STRING(answer.out, "test-tool " GPUCERT_VERSION "\n");
	MAIN(&answer, &tool, "--help", "run", "--no-such-thing");
	UNIT_INT(answer.code, 0);
	UNIT_CONTAINS(answer.out, "Usage: test-tool run [OPTIONS] [CHECK...]\n");
	MAIN(&answer, &tool, "run", "-n5", "-h");
	UNIT_CONTAINS(answer.out, "[default: 42]"); /* the default, not what was given */
	MAIN(&answer, &tool, "--generate", "pdf");
	UNIT_INT(answer.code, OPTIONS_EXIT_USAGE);
	MAIN(&answer, &tool, "--generate=man");
	UNIT_CONTAINS(answer.out, ".TH TEST\\-TOOL 1");
}

#ifndef _WIN32
static void test_unwritable_output(void)
{
	int saved = dup(STDOUT_FILENO);
	int full = open("/dev/full", O_WRONLY | O_CLOEXEC);
	(void)fflush(stdout);
	(void)dup2(full, STDOUT_FILENO);
	UNIT_INT(options_run_line(&tool, WORDS("--version")), 1);
	clearerr(stdout);
	(void)dup2(saved, STDOUT_FILENO);
	(void)close(saved);
	(void)close(full);
}
#endif

static const char help_of_tool[] =
	"Usage: test-tool [OPTIONS] COMMAND ...\n"
	"\n"
	"Tests option tables\n"
	"\n"
	"A tool for tests.\n"
	"\n"
	"Commands:\n"
	"  run          Run checks\n"
	"  compare      Compare reports\n"
	"  image build  Build an image\n"
	"  image check  Check an image\n"
	"\n"
	"Options:\n"
	"  -v, --verbose         Tell more. [env: GPUCERT_TEST_VERBOSE]\n"
	"  -d, --plugin-dir DIR  Where the plugin's socket lies: 'here' [or there].\n"
	"  -h, --help            Show this help.\n"
	"      --version         Show the version.\n"
	"\n"
	"Exit codes:\n"
	"  0   fine\n"
	"  2   usage\n"
	"\n"
	"'test-tool COMMAND --help' shows the help of a command.\n";

static const char help_of_run[] =
	"Usage: test-tool run [OPTIONS] [CHECK...]\n"
	"\n"
	"Run checks\n"
	"\n"
	"Runs the checks.\n"
	"\n"
	".Starts with a dot and has back\\slashes.\n"
	"\n"
	"Options:\n"
	"      --launcher NAME   What starts the probes. [one of: containerd, process]\n"
	"                        [default: containerd] [env: GPUCERT_TEST_LAUNCHER]\n"
	"  -n, --size N          Elements. [1 to 100] [default: 42]\n"
	"                        [env: GPUCERT_TEST_SIZE]\n"
	"      --device N        The only device. [at least 0]\n"
	"  -t, --tag TAG         Only checks with this tag. May be repeated.\n"
	"                        [env: GPUCERT_TEST_TAGS]\n"
	"      --out FILE        Where the report goes.\n"
	"  -q, --quiet           Say nothing.\n"
	"\n"
	"Options of every command:\n"
	"  -v, --verbose         Tell more. [env: GPUCERT_TEST_VERBOSE]\n"
	"  -d, --plugin-dir DIR  Where the plugin's socket lies: 'here' [or there].\n"
	"  -h, --help            Show this help.\n"
	"      --version         Show the version.\n"
	"\n"
	"Examples:\n"
	"  tool run --size 5\n"
	"      runs five\n"
	"\n"
	"Exit codes:\n"
	"  0   fine\n"
	"  2   usage\n";

static void test_help(void)
{
	static struct answer answer;
	struct text colored CLEANUP_TEXT = {0};
	MAIN(&answer, &tool, "--help");
	UNIT_STRING(answer.out, help_of_tool);
	MAIN(&answer, &tool, "run", "--help");
	UNIT_STRING(answer.out, help_of_run);
	options_help(&tool, NULL, true, &colored);
	UNIT_CONTAINS(text_string(&colored), "\x1b[1m-v, --verbose\x1b[0m");
}

/* Every name in the tables is in every text: in the man page with its hyphens escaped. */
static void check_table(const struct option_spec *options, const char *help, const char *man)
{
	for (; options->name != NULL; options++) {
		struct text plain CLEANUP_TEXT = {0};
		struct text escaped CLEANUP_TEXT = {0};
		text_addf(&plain, "--%s", options->name);
		for (const char *p = text_string(&plain); *p != '\0'; p++)
			text_addf(&escaped, "%s%c", *p == '-' ? "\\" : "", *p);
		UNIT_CONTAINS(help, text_string(&plain));
		UNIT_CONTAINS(man, text_string(&escaped));
	}
}

static void test_every_option_is_everywhere(void)
{
	static const struct option_spec builtin[] = {{.name = "help"}, {.name = "version"}, {0}};
	const struct command_spec *command = &commands[0];
	struct text help CLEANUP_TEXT = {0};
	struct text man CLEANUP_TEXT = {0};
	reset();
	options_help(&tool, command, false, &help);
	options_man(&tool, &man);
	check_table(run_options, help.data, man.data);
	check_table(common_options, help.data, man.data);
	check_table(builtin, help.data, man.data);
	UNIT_CONTAINS(man.data, "\\fBGPUCERT_TEST_TAGS\\fR");
	UNIT_CONTAINS(man.data, "\\&.Starts with a dot and has back\\eslashes.");
}

/* What is offered for the last of the words, which blanks separate; a line that ends with a blank ends with an empty word. */
static void check_complete(const char *words, const char *wanted)
{
	struct text_list list CLEANUP_TEXT_LIST = {0};
	struct text out CLEANUP_TEXT = {0};
	text_list_split(&list, words, ' ');
	if (text_ends_with(words, " "))
		text_list_add(&list, "");
	options_complete(&tool, (int)list.count, list.items, &out);
	/* Names suffice. */
	struct text names CLEANUP_TEXT = {0};
	for (const char *line = text_string(&out); *line != '\0';) {
		size_t length = strcspn(line, "\n");
		text_addf(&names, "%.*s ", (int)strcspn(line, "\t\n"), line);
		line += length + (line[length] == '\n');
	}
	if (strcmp(text_string(&names), wanted) != 0)
		(void)fprintf(stderr, "completing: %s\n", words);
	UNIT_STRING(text_string(&names), wanted);
}

static void test_completion(void)
{
	reset();
	check_complete("test-tool ", " run compare image ");
	check_complete("test-tool -d run ", " run compare image ");
	check_complete("test-tool image ", " build check ");
	check_complete("test-tool image b", " build ");
	check_complete("test-tool image build --la", " --launcher ");
	check_complete("test-tool image --h", " --help ");
	check_complete("test-tool -v image build --launcher p", " process ");
	check_complete("test-tool image build compute --laun", " --launcher ");
	check_complete("test-tool image check ./CMakePre", "files ");
	check_complete("test-tool r", " run ");
	check_complete("test-tool --v", " --verbose --version ");
	check_complete("test-tool -", " --verbose -v --plugin-dir -d --help -h --version ");
	check_complete("test-tool -v run --la", " --launcher ");
	check_complete("test-tool run --launcher ", " containerd process ");
	check_complete("test-tool run --launcher=p", " process ");
	/* as bash has them */
	check_complete("test-tool run --launcher = p", " process ");
	check_complete("test-tool run --launcher =", " containerd process ");
	check_complete("test-tool --plugin-dir = x run --laun", " --launcher ");
	check_complete("test-tool run --out ", "files ");
	check_complete("test-tool run --out=a/b", "files ");
	check_complete("test-tool -d ", "directories ");
	check_complete("test-tool run -q -t ", " ");
	check_complete("test-tool run --size ", " ");
	check_complete("test-tool run --unknown --nothing=x --la", " --launcher ");
	check_complete("test-tool run -- --la", " ");
	check_complete("test-tool compare x", "files ");
	UNIT_INT(run_called, 0);
}

#ifdef _WIN32
#define TESTS_WITH_POSIX_TOOLS
#else
/* Writes a text to a file and hands it to a program; false when there is no such program. */
static bool run_over(const char *const *command, const char *data, struct process_result *result)
{
	char *directory CLEANUP_FREE = NULL;
	char *path CLEANUP_FREE = NULL;
	const char *argv[8] = {NULL};
	size_t count = 0;
	int rc = 0;
	UNIT_INT(file_make_temporary("/tmp", "gpucert-test-", &directory, NULL), 0);
	path = text_format("%s/text", directory);
	UNIT_INT(file_write_atomic(path, data, strlen(data), 0644, NULL), 0);
	while (command[count] != NULL) {
		argv[count] = command[count];
		count++;
	}
	argv[count] = path;
	rc = process_run(&(struct process_spec){.argv = argv}, result, NULL);
	UNIT_INT(file_remove_tree(directory, NULL), 0);
	return rc == 0;
}

static void test_man_page_renders_without_warnings(void)
{
	struct process_result result CLEANUP(process_result_free) = {0};
	struct text man CLEANUP_TEXT = {0};
	reset();
	options_man(&tool, &man);
	if (!run_over((const char *const[]){"groff", "-man", "-ww", "-Tascii", NULL}, man.data,
		      &result))
		return;
	UNIT_INT(result.code, 0);
	UNIT_STRING(text_string(&result.err), "");
	UNIT_CONTAINS(text_string(&result.out), "runs five");
}

#define TESTS_WITH_POSIX_TOOLS                                                                     \
	{"unwritable output", test_unwritable_output},                                             \
		{"man page renders without warnings", test_man_page_renders_without_warnings},
#endif

UNIT_MAIN("options", TESTS_WITH_POSIX_TOOLS{"every form", test_every_form},
	  {"completion", test_completion},
	  {"last value counts, flags can be off", test_last_value_counts_and_flags_can_be_off},
	  {"double dash", test_double_dash}, {"errors name the place", test_errors_name_the_place},
	  {"environment", test_environment},
	  {"nothing is set by a wrong line", test_nothing_is_set_by_a_wrong_line},
	  {"main runs commands", test_main_runs_commands},
	  {"groups of commands", test_groups_of_commands},
	  {"main: usage errors", test_main_usage_errors}, {"main: answers", test_main_answers},
	  {"help", test_help}, {"every option is everywhere", test_every_option_is_everywhere})
