/* SPDX-License-Identifier: MIT */
#include "base/file.h"
#include "base/tests/unit.h"
#include "reports/redact/redact.h"

#include <string.h>

static struct redactor *known(bool keep_identity)
{
	struct redactor *redactor = NULL;
	UNIT_INT(redactor_new(keep_identity, "The device plugin registers. api.vulkan", &redactor,
			      NULL),
		 0);
	redactor_set_key(redactor, "a machine");
	UNIT_INT(redactor_add(redactor, REDACT_HOST, "Gpunode-17.corp.example", NULL), 0);
	UNIT_INT(redactor_add(redactor, REDACT_HOST, "edge42", NULL), 0);
	UNIT_INT(redactor_add(redactor, REDACT_USER, "wilhelmina", NULL), 0);
	UNIT_INT(redactor_add(redactor, REDACT_USER, "J\xc3\xb6rg K", NULL), 0);
	UNIT_INT(redactor_add(redactor, REDACT_HOME, "/srv/people/wilhelmina/", NULL), 0);
	UNIT_INT(redactor_add(redactor, REDACT_HOME, "D:\\Profiles\\J\xc3\xb6rg K", NULL), 0);
	UNIT_INT(redactor_add(redactor, REDACT_SERIAL, "52:54:00:AB:cd:ef", NULL), 0);
	UNIT_INT(redactor_add(redactor, REDACT_SERIAL, "S4EWNX0R-123456", NULL), 0);
	UNIT_INT(redactor_add(redactor, REDACT_SECRET, "hunter2hunter2", NULL), 0);
	UNIT_INT(redactor_add(redactor, REDACT_ADDRESS, "10.20.0.7", NULL), 0);
	UNIT_INT(redactor_add(redactor, REDACT_ADDRESS, "2001:DB8::7", NULL), 0);
	return redactor;
}

/* What becomes of a text; nothing more happens to it a second time. */
static void becomes(const struct redactor *redactor, const char *text, const char *wanted)
{
	char *once CLEANUP_FREE = redact_string(redactor, text);
	char *twice CLEANUP_FREE = redact_string(redactor, once);
	UNIT_STRING(once, wanted);
	UNIT_STRING(twice, wanted);
}

static void test_names(void)
{
	struct redactor *redactor CLEANUP_REDACTOR = known(false);
	becomes(redactor, "gpunode-17 GPUNODE-17.CORP.EXAMPLE:80 edge42",
		"<host> <host>:80 <host-2>");
	becomes(redactor, "wilhelmina@gpunode-17, (Wilhelmina) J\xc3\xb6rg K's",
		"<user>@<host>, (<user>) <user-2>'s");
	becomes(redactor, "plugin_edge42-x9 \"edge42\"", "plugin_<host-2>-x9 \"<host-2>\"");
	/* Words that hold a name are other words. */
	becomes(redactor,
		"edge421 sledge42 \xc3\xa4"
		"edge42",
		"edge421 sledge42 \xc3\xa4"
		"edge42");
	/* What stands before a name and is no part of the word: escapes of JSON, colours. */
	becomes(redactor, "\\nedge42 \\u001bedge42 \x1b[31;1medge42\x1b[0m [31 medge42",
		"\\n<host-2> \\u001b<host-2> \x1b[31;1m<host-2>\x1b[0m [31 medge42");
}

static void test_homes(void)
{
	struct redactor *redactor CLEANUP_REDACTOR = known(false);
	becomes(redactor, "/srv/people/wilhelmina/x --dir=/host/srv/people//WILHELMINA",
		"<home>/x --dir=/host<home>");
	becomes(redactor,
		"D:\\Profiles\\J\xc3\xb6rg K\\a.dll d:/profiles/j\xc3\xb6rg k {\"D:\\\\Profiles\\\\J\xc3\xb6rg K\"}",
		"<home-2>\\a.dll <home-2> {\"<home-2>\"}");
	becomes(redactor,
		"/root/x /home/ubuntu/y C:\\Users\\Public C:\\Users\\ContainerAdministrator\\z",
		"/root/x /home/ubuntu/y C:\\Users\\Public C:\\Users\\ContainerAdministrator\\z");
	becomes(redactor, "https://example.com/users/list /homestead/x users\\x",
		"https://example.com/users/list /homestead/x users\\x");
}

static void test_addresses(void)
{
	struct redactor *redactor CLEANUP_REDACTOR = known(false);
	becomes(redactor,
		"10.20.0.7:6443 http://10.20.0.7/ ::ffff:10.20.0.7 at 10.20.0.7. [2001:db8::7]:80 2001:DB8::7%eth0",
		"<address>:6443 http://<address>/ ::ffff:<address> at <address>. [<address-2>]:80 <address-2>%eth0");
	/* Neither versions nor other addresses. */
	becomes(redactor, "10.20.0.70 110.20.0.7 1.10.20.0.7 10.20.0.7.1 2001:db8::70",
		"10.20.0.70 110.20.0.7 1.10.20.0.7 10.20.0.7.1 2001:db8::70");
}

/* A host has one placeholder, whichever of its names is told first; Windows cuts names to 15 characters. */
static void test_host_names(void)
{
	struct redactor *redactor CLEANUP_REDACTOR = known(false);
	UNIT_INT(redactor_add(redactor, REDACT_HOST, "edge42.lab.example", NULL), 0);
	UNIT_INT(redactor_add(redactor, REDACT_HOST, "a-very-long-name-of-a-node", NULL), 0);
	becomes(redactor, "edge42 edge42.lab.example edge42.other.example",
		"<host-2> <host-2> <host-2>.other.example");
	becomes(redactor, "A-VERY-LONG-NAM a-very-long-name-of-a-node a-very-long-nam-x",
		"<host-3> <host-3> <host-3>-x");
}

/* Folders of users of whom nothing is known. */
static void test_other_homes(void)
{
	static const char *const texts[] = {
		"/home/somebody",
		"/mnt/home/somebody/.cache",
		"/Users/somebody/x",
		"C:\\Users\\somebody\\x",
		"c:/users/SOMEBODY/x",
		"\"C:\\\\Users\\\\somebody\\\\x\"",
		"\\\\?\\C:\\Users\\somebody",
		"in /home/somebody.",
		NULL,
	};
	struct redactor *redactor CLEANUP_REDACTOR = known(false);
	char *first CLEANUP_FREE = redact_string(redactor, "/home/somebody");
	char *other CLEANUP_FREE = redact_string(redactor, "/home/somebody2");
	CU_ASSERT_TRUE(text_starts_with(first, "<home-"));
	CU_ASSERT_TRUE(strcmp(first, other) != 0);
	for (size_t i = 0; texts[i] != NULL; i++) {
		char *text CLEANUP_FREE = redact_string(redactor, texts[i]);
		CU_ASSERT_TRUE(strstr(text, "omebody") == NULL && strstr(text, "OMEBODY") == NULL);
		CU_ASSERT_TRUE(strstr(text, first) != NULL);
	}
}

static void test_homes_with_blanks(void)
{
	struct redactor *redactor CLEANUP_REDACTOR = known(false);
	char *jane CLEANUP_FREE = redact_string(redactor, "C:\\Users\\Jane Doe\\x");
	char *escaped CLEANUP_FREE = redact_string(redactor, "c:\\\\users\\\\Jane Doe\\\\x y");
	char *ends CLEANUP_FREE = redact_string(redactor, "C:\\Users\\jane is a folder");
	CU_ASSERT_TRUE(text_starts_with(jane, "<home-") && strstr(jane, ">\\x") != NULL);
	CU_ASSERT_TRUE(text_starts_with(escaped, "<home-") && strstr(escaped, ">\\\\x y") != NULL);
	CU_ASSERT_TRUE(text_starts_with(ends, "<home-") && strstr(ends, "> is a folder") != NULL);
}

static void test_serials(void)
{
	struct redactor *redactor CLEANUP_REDACTOR = known(false);
	char *mac CLEANUP_FREE = redact_string(redactor, "525400abcdef");
	char *gpu CLEANUP_FREE =
		redact_string(redactor, "GPU-11112222-3333-4444-5555-666677778888");
	char *bare CLEANUP_FREE = redact_string(redactor, "11112222333344445555666677778888");
	char *other CLEANUP_FREE =
		redact_string(redactor, "GPU-11112222-3333-4444-5555-666677778889");
	char *macs CLEANUP_FREE = text_format("%s %s %s %s", mac, mac, mac, mac);
	CU_ASSERT_TRUE(text_starts_with(mac, "<serial-") &&
		       strlen(mac) == strlen("<serial-1a2b3c4d>"));
	becomes(redactor, "52:54:00:ab:cd:ef 52-54-00-AB-CD-EF 5254.00ab.cdef 525400abcdef", macs);
	UNIT_STRING(gpu + strlen("GPU-"), bare);
	CU_ASSERT_TRUE(strcmp(gpu, other) != 0);
	/* Not serial numbers: a PCI address, a LUID, digests, a GUID of a class, longer numbers. */
	static const char rest[] =
		"0000:03:00.0 0x0000d3a1 sha256:e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855 "
		"{4d36e968-e325-11ce-bfc1-08002be10318} PCI\\VEN_10DE&DEV_1EB8\\3&13C0B0C5&1&D8 152:54:00:ab:cd:ef";
	becomes(redactor, rest, rest);
}

static void test_secrets(void)
{
	static const char *const rows[][2] = {
		{"Authorization: Basic dXNlcjpwYXNz x", "Authorization: <secret>"},
		{"{\"Authorization\":\"Bearer abc\",\"a\":1}",
		 "{\"Authorization\":\"<secret>\",\"a\":1}"},
		{"curl -H 'X-Api-Key: abc' u", "curl -H 'X-Api-Key: <secret>' u"},
		{"use bearer abcdef12345, a bearer instrument",
		 "use bearer <secret>, a bearer instrument"},
		{"https://joe:pw@example.com/x https://example.com/a@b",
		 "https://<secret>@example.com/x https://example.com/a@b"},
		{"REGISTRY_TOKEN=a1 db.password='b c' X_TOKEN_FILE=/run/t",
		 "REGISTRY_TOKEN=<secret> db.password='<secret>' X_TOKEN_FILE=/run/t"},
		{"{\\\"apiKey\\\": \\\"abc\\\", \\\"max\\\": 1}",
		 "{\\\"apiKey\\\": \\\"<secret>\\\", \\\"max\\\": 1}"},
		{"--password abc --api-token=abc -p x",
		 "--password <secret> --api-token=<secret> -p x"},
		{"eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiIxIn0.abc-_9 ghp_0123456789abcdefABCD",
		 "<secret> <secret>"},
		{"-----BEGIN RSA PRIVATE KEY-----\nMIIE\n-----END RSA PRIVATE KEY-----\n",
		 "<secret>-----END RSA PRIVATE KEY-----\n"},
		{"-----BEGIN CERTIFICATE-----\nMIIE", "-----BEGIN CERTIFICATE-----\nMIIE"},
		{"A_TOKEN=<b, {'password': '<c'}, token==x",
		 "A_TOKEN=<secret>, {'password': '<secret>'}, token==x"},
		{"the value is hunter2hunter2!", "the value is <secret>!"},
		{"NGC_KEY=abc DB_PASS=\"a b\" MYSQL_PWD=x PWD=/srv registry_key=HKLM sort-key=1",
		 "NGC_KEY=<secret> DB_PASS=\"<secret>\" MYSQL_PWD=<secret> PWD=/srv registry_key=HKLM sort-key=1"},
		{"Proxy-Authorization: Basic a b\nSet-Cookie: a=b; c\ndb_password: x y",
		 "Proxy-Authorization: <secret>\nSet-Cookie: <secret>\ndb_password: <secret>"},
		{"password=<seCret1234567 token=<secret>", "password=<secret> token=<secret>"},
		{"--password 'a b' --token --verbose", "--password '<secret>' --token --verbose"},
		{"GET /blob?X-Amz-Signature=0a1b&part=1 signature=valid",
		 "GET /blob?X-Amz-Signature=<secret>&part=1 signature=valid"},
		{"tokens=5 key=1 unexpected token: ':' secretly",
		 "tokens=5 key=1 unexpected token: ':' secretly"},
	};
	for (int keep = 0; keep < 2; keep++) {
		struct redactor *redactor CLEANUP_REDACTOR = known(keep == 1);
		for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++)
			becomes(redactor, rows[i][0], rows[i][1]);
	}
}

static void test_kept(void)
{
	static const char text[] =
		"wilhelmina@gpunode-17 /home/x/y GPU-11112222-3333-4444-5555-666677778888 52:54:00:ab:cd:ef";
	struct redactor *redactor CLEANUP_REDACTOR = known(true);
	becomes(redactor, text, text);
	becomes(NULL, text, text);
}

/* Names that identify nobody stay, and so do words that reports are made of. */
static void test_generic(void)
{
	static const char *const names[] = {"root",	"gpu",	 "vm",	      "42",	"Plugin",
					    "vulkan",	"",	 "localhost", "dev",	"linux",
					    "test",	"a",	 "runc",      "x86",	"tmp",
					    "ec2-user", "amd64", "nvidia",    "debian", NULL};
	struct redactor *redactor CLEANUP_REDACTOR = known(false);
	for (size_t i = 0; names[i] != NULL; i++) {
		UNIT_INT(redactor_add(redactor, REDACT_HOST, names[i], NULL), 0);
		UNIT_INT(redactor_add(redactor, REDACT_USER, names[i], NULL), 0);
		becomes(redactor, names[i], names[i]);
	}
	UNIT_INT(redactor_add(redactor, REDACT_HOME, "/root", NULL), 0);
	UNIT_INT(redactor_add(redactor, REDACT_HOME, "/", NULL), 0);
	UNIT_INT(redactor_add(redactor, REDACT_SERIAL, "To be filled by O.E.M.", NULL), 0);
	UNIT_INT(redactor_add(redactor, REDACT_SERIAL, "00:00:00:00:00:00", NULL), 0);
	/* Azure's PCI addresses have such a domain. */
	UNIT_INT(redactor_add(redactor, REDACT_SERIAL, "00000001", NULL), 0);
	becomes(redactor, "00000001:00:00.0 /dev/dri /tmp/x86_64",
		"00000001:00:00.0 /dev/dri /tmp/x86_64");
	becomes(redactor,
		"/root/a /b To be filled by O.E.M. 00:00:00:00:00:00 device plugin api.vulkan",
		"/root/a /b To be filled by O.E.M. 00:00:00:00:00:00 device plugin api.vulkan");
	cJSON *json CLEANUP_JSON = redactor_to_json(redactor, false);
	UNIT_STRING(json_pointer_string(json, "/stays/0"), "host");
	CU_ASSERT_TRUE(json_pointer(json, "/facts") == NULL);
}

/* The document as it is printed afterwards. */
static char *redacted_json(const struct redactor *redactor, const char *text,
			   const char *const *without)
{
	cJSON *json CLEANUP_JSON = NULL;
	UNIT_INT(json_parse(text, strlen(text), &json, NULL), 0);
	redact_json(redactor, json, without);
	return json_print_compact(json);
}

static void test_json(void)
{
	static const char *const own[] = {"kind", NULL};
	static const char text[] =
		"{\"kind\":\"edge42\",\"edge42\":[\"at edge42\",1,null],\"deviceUuid\":\"0102abcd\","
		"\"env\":[{\"name\":\"A_TOKEN\",\"value\":\"abc\"},{\"key\":\"HOME\",\"value\":\"/home/joe\"}],"
		"\"args\":[\"run\",\"--api-token\",\"s3\",\"--max-tokens\",\"5\",\"--token=a\",\"b\"]}";
	struct redactor *redactor CLEANUP_REDACTOR = known(false);
	struct redactor *keeping CLEANUP_REDACTOR = known(true);
	char *all CLEANUP_FREE = redacted_json(redactor, text, NULL);
	char *form CLEANUP_FREE = redacted_json(redactor, text, own);
	char *kept CLEANUP_FREE = redacted_json(keeping, text, NULL);
	CU_ASSERT_TRUE(text_starts_with(
		all,
		"{\"kind\":\"<host-2>\",\"<host-2>\":[\"at <host-2>\",1,null],\"deviceUuid\":\"<serial-"));
	CU_ASSERT_TRUE(
		strstr(all,
		       "{\"name\":\"A_TOKEN\",\"value\":\"<secret>\"},{\"key\":\"HOME\",\"value\":\"<home-") !=
		NULL);
	static const char args[] =
		"\"args\":[\"run\",\"--api-token\",\"<secret>\",\"--max-tokens\",\"5\",\"--token=<secret>\",\"b\"]}";
	CU_ASSERT_TRUE(text_ends_with(all, args) && text_ends_with(kept, args));
	CU_ASSERT_TRUE(text_starts_with(form, "{\"kind\":\"edge42\",\"edge42\":[\"at <host-2>\""));
	CU_ASSERT_TRUE(strstr(kept, "\"at edge42\"") != NULL && strstr(kept, "/home/joe") != NULL);
	CU_ASSERT_TRUE(strstr(kept, "\"abc\"") == NULL);
}

static void test_record(void)
{
	static const char text[] =
		"{\"type\":\"evidence\",\"check\":\"edge42.first\",\"name\":\"of edge42\",\"path\":\"evidence/edge42.first/01-of_edge42\","
		"\"environment\":{\"node\":{\"kind\":\"edge42\"},\"devices\":[{\"ref\":\"edge42\"}],\"redaction\":{\"facts\":[{\"value\":\"edge42\"}]}}}";
	struct redactor *redactor CLEANUP_REDACTOR = known(false);
	cJSON *json CLEANUP_JSON = NULL;
	UNIT_INT(json_parse(text, strlen(text), &json, NULL), 0);
	redact_record(redactor, json);
	UNIT_STRING(json_pointer_string(json, "/check"), "edge42.first");
	UNIT_STRING(json_pointer_string(json, "/name"), "of <host-2>");
	UNIT_STRING(json_pointer_string(json, "/path"), "evidence/edge42.first/01-of_edge42");
	UNIT_STRING(json_pointer_string(json, "/environment/node/kind"), "edge42");
	UNIT_STRING(json_pointer_string(json, "/environment/devices/0/ref"), "<host-2>");
	UNIT_STRING(json_pointer_string(json, "/environment/redaction/facts/0/value"), "edge42");
}

static void test_content(void)
{
	static const char whole[] = "{\"x\":\"\\u0065dge42\"}";
	static const char broken[] = "{\"x\": \"edge42\"";
	struct redactor *redactor CLEANUP_REDACTOR = known(false);
	struct text json CLEANUP_TEXT = {0};
	struct text text CLEANUP_TEXT = {0};
	char *name CLEANUP_FREE = redact_file_name(redactor, "edge42/a b:\xc3\xa4.txt");
	redact_content(redactor, "application/json", whole, strlen(whole), &json);
	CU_ASSERT_TRUE(strstr(text_string(&json), "\"<host-2>\"") != NULL);
	redact_content(redactor, "application/json", broken, strlen(broken), &text);
	UNIT_STRING(text_string(&text), "{\"x\": \"<host-2>\"");
	UNIT_STRING(name, "_host-2__a_b___.txt");
	/* Of lines, each is a document; one that is broken is text. */
	static const char events[] =
		"{\"envs\":[{\"key\":\"A_PASSWORD\",\"value\":\"abc\"}],\"n\":1.5}\n\n{\"x\":\"edge42\n{\"x\":\"\\u0065dge42\"}";
	struct text lines CLEANUP_TEXT = {0};
	redact_content(redactor, "text/plain", events, strlen(events), &lines);
	UNIT_STRING(text_string(&lines),
		    "{\"envs\":[{\"key\":\"A_PASSWORD\",\"value\":\"<secret>\"}],\"n\":1.5}\n\n"
		    "{\"x\":\"<host-2>\n{\"x\":\"<host-2>\"}");
}

/* Whatever stands around an identity, nothing of it is left, and it is the same placeholder each time. */
static void test_around(void)
{
	static const char *const identities[] = {
		"gpunode-17",	     "gpunode-17.corp.example", "edge42",
		"wilhelmina",	     "J\xc3\xb6rg K",		"/srv/people/wilhelmina",
		"52:54:00:ab:cd:ef", "S4EWNX0R-123456",		NULL};
	static const char around[] = " \t\r\n\"'()[]{}<>,;:=@#%&*+?!|~^`$/\\.-_";
	struct redactor *redactor CLEANUP_REDACTOR = known(false);
	for (size_t i = 0; identities[i] != NULL; i++) {
		char *placeholder CLEANUP_FREE = redact_string(redactor, identities[i]);
		for (const char *left = around; *left != '\0'; left++) {
			for (const char *right = around; *right != '\0'; right++) {
				char *text CLEANUP_FREE =
					text_format("k%c%s%ck", *left, identities[i], *right);
				/* A path may begin with several separators. */
				bool joins =
					identities[i][0] == '/' && strchr("/\\", *left) != NULL;
				char *wanted CLEANUP_FREE = text_format("k%.*s%s%ck", joins ? 0 : 1,
									left, placeholder, *right);
				becomes(redactor, text, wanted);
			}
		}
	}
}

/* What one process of a run knows, the next one knows as well. */
static void test_shared(void)
{
	struct redactor *redactor CLEANUP_REDACTOR = known(false);
	struct redactor *again CLEANUP_REDACTOR = NULL;
	struct redactor *later CLEANUP_REDACTOR = NULL;
	struct redactor *keeping CLEANUP_REDACTOR = known(true);
	cJSON *told CLEANUP_JSON = redactor_to_json(keeping, false);
	cJSON *all CLEANUP_JSON = redactor_to_json(redactor, true);
	static const char text[] =
		"wilhelmina@edge42 D:/Profiles/J\xc3\xb6rg K 525400abcdef /home/joe hunter2hunter2";
	char *wanted CLEANUP_FREE = redact_string(redactor, text);
	UNIT_INT(redactor_from_json(all, true, &again, NULL), 0);
	becomes(again, text, wanted);
	/* A report that keeps identities says what they are, and never a secret. */
	char *json CLEANUP_FREE = json_print(told);
	CU_ASSERT_TRUE(strstr(json, "wilhelmina") != NULL && strstr(json, "hunter2") == NULL);
	UNIT_INT(redactor_from_json(told, false, &later, NULL), 0);
	char *without CLEANUP_FREE =
		redact_string(later, "wilhelmina@edge42 525400abcdef /home/joe");
	char *same CLEANUP_FREE =
		redact_string(redactor, "wilhelmina@edge42 525400abcdef /home/joe");
	UNIT_STRING(without, same);
}

static void test_bad_description(void)
{
	static const char *const texts[] = {
		"{}",
		"{\"key\":1,\"facts\":[]}",
		"{\"key\":\"\",\"facts\":{}}",
		"{\"key\":\"\",\"facts\":[1]}",
		"{\"key\":\"\",\"facts\":[{\"kind\":\"pet\",\"value\":\"rex\",\"placeholder\":\"<pet>\"}]}",
		"{\"key\":\"\",\"facts\":[{\"kind\":\"host\",\"value\":\"\",\"placeholder\":\"<host>\"}]}",
		"{\"key\":\"\",\"facts\":[{\"kind\":\"host\",\"value\":\"rex\",\"placeholder\":\"rex\"}]}",
		"{\"key\":\"\",\"facts\":[{\"kind\":\"host\",\"value\":\"rex\",\"placeholder\":\"<host-00000000000000000000000000000000>\"}]}",
		NULL,
	};
	for (size_t i = 0; texts[i] != NULL; i++) {
		struct redactor *redactor CLEANUP_REDACTOR = NULL;
		cJSON *json CLEANUP_JSON = cJSON_Parse(texts[i]);
		struct error err = {0};
		UNIT_INT(redactor_from_json(json, true, &redactor, &err), ERROR_FORMAT);
		CU_ASSERT_TRUE(redactor == NULL && err.text[0] != '\0');
	}
}

/* This machine has a key: a serial number has the same placeholder in each run. */
static void test_this_host(void)
{
	struct redactor *first CLEANUP_REDACTOR = NULL;
	struct redactor *second CLEANUP_REDACTOR = NULL;
	UNIT_INT(redactor_new(false, NULL, &first, NULL), 0);
	UNIT_INT(redactor_new(false, NULL, &second, NULL), 0);
	UNIT_INT(redactor_add_this_host(first, NULL), 0);
	UNIT_INT(redactor_add_this_host(second, NULL), 0);
	char *one CLEANUP_FREE = redact_string(first, "0102030405060708090a0b0c0d0e0f10");
	char *two CLEANUP_FREE = redact_string(second, "0102030405060708090a0b0c0d0e0f10");
	if (file_exists("/etc/machine-id"))
		UNIT_STRING(one, two);
	CU_ASSERT_TRUE(text_starts_with(one, "<serial-"));
}

UNIT_MAIN("redact", {"names", test_names}, {"home folders", test_homes},
	  {"addresses", test_addresses}, {"names of one host", test_host_names},
	  {"home folders of others", test_other_homes},
	  {"home folders with blanks", test_homes_with_blanks}, {"serial numbers", test_serials},
	  {"secrets", test_secrets}, {"identities that are kept", test_kept},
	  {"names of nobody", test_generic}, {"JSON", test_json}, {"records", test_record},
	  {"content of evidence", test_content}, {"whatever stands around", test_around},
	  {"processes of a run", test_shared},
	  {"descriptions that are wrong", test_bad_description}, {"this host", test_this_host})
