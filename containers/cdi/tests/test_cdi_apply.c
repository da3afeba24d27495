/* SPDX-License-Identifier: MIT */
/* What names of CDI devices become, and why some become nothing. */
#include "containers/cdi/apply.h"
#include "containers/cdi/tests/folders.h"

static void put(size_t place, const char *name, const char *content)
{
	char *path CLEANUP_FREE = path_join(places.items[place], name);
	UNIT_INT(file_write_atomic(path, content, strlen(content), 0644, NULL), 0);
}

/* The Spec of a kind with these devices, as JSON without its braces. */
static void put_spec(size_t place, const char *name, const char *kind, const char *members)
{
	char *content CLEANUP_FREE =
		text_format("{\"cdiVersion\": \"1.1.0\", \"kind\": \"%s\", %s}", kind, members);
	put(place, name, content);
}

static void put_specs(void)
{
	put_spec(0, "v.com-gpu.json", "v.com/gpu",
		 "\"containerEdits\": {\"env\": [\"ALL=spec\", \"SEEN=all\"]}, \"devices\": ["
		 "{\"name\": \"a\", \"containerEdits\": {\"env\": [\"ALL=own\"], \"deviceNodes\": ["
		 "{\"path\": \"/dev/a\", \"hostPath\": \"/dev/null\", \"permissions\": \"rw\"},"
		 "{\"path\": \"/dev/numbered\", \"type\": \"c\", \"major\": 226, \"minor\": 128},"
		 "{\"path\": \"/dev/plain\"}, {\"path\": \"/dev/closed\", \"permissions\": "
		 "\"none\"}], \"mounts\": [{\"hostPath\": \"/lib/a.so\", \"containerPath\": "
		 "\"/lib/a.so\", \"options\": [\"ro\", \"bind\"]}, {\"hostPath\": \"tmpfs\", "
		 "\"containerPath\": \"/cache\", \"type\": \"tmpfs\"}]}},"
		 "{\"name\": \"b\", \"containerEdits\": {\"mounts\": [{\"hostPath\": "
		 "\"/lib/b.so\", \"containerPath\": \"/lib/a.so\"}]}},"
		 "{\"name\": \"hooked\", \"containerEdits\": {\"hooks\": [{\"hookName\": "
		 "\"createContainer\", \"path\": \"/bin/true\"}]}}]");
	put_spec(0, "w.json", "w.com/gpu",
		 "\"devices\": [{\"name\": \"a\", \"containerEdits\": {\"env\": [\"W=static\"]}}]");
	put_spec(1, "w.json", "w.com/gpu",
		 "\"devices\": [{\"name\": \"a\", \"containerEdits\": {\"env\": "
		 "[\"W=dynamic\"]}}]");
	put_spec(0, "x1.json", "x.com/gpu",
		 "\"devices\": [{\"name\": \"a\", \"containerEdits\": {\"env\": [\"X=1\"]}}]");
	put_spec(0, "x2.json", "x.com/gpu",
		 "\"devices\": [{\"name\": \"a\", \"containerEdits\": {\"env\": [\"X=2\"]}}]");
	put_spec(0, "wrong.json", "y.com/gpu",
		 "\"devices\": [{\"name\": \"a\", \"containerEdits\": {\"environment\": []}}]");
	put(0, "z.com-gpu.yaml", "kind: [\n");
}

/* "env A=b", "mount /to=/from ro", ... in order. */
static char *describe(const struct grant *grant)
{
	static const char *const kinds[GRANT_KINDS] = {"env", "mount", "device", "annotation",
						       "cdi"};
	struct text text = {0};
	for (size_t kind = 0; kind < GRANT_KINDS; kind++) {
		grant_each (entry, &grant->lists[kind])
			text_addf(&text, "%s %s%s%s%s%s%s;", kinds[kind], entry->name,
				  entry->value != NULL ? "=" : "",
				  entry->value != NULL ? entry->value : "",
				  entry->read_only ? " ro" : "",
				  entry->permissions != NULL ? " " : "",
				  entry->permissions != NULL ? entry->permissions : "");
	}
	for (size_t i = 0; i < grant->conflict_count; i++)
		text_addf(&text, "%s %s not %s;", grant->conflicts[i].key,
			  grant->conflicts[i].winner, grant->conflicts[i].loser);
	return text_take(&text);
}

static void expect(const struct grant *grant, const char *wanted)
{
	struct cdi_registry registry CLEANUP(cdi_registry_free) = {0};
	struct grant applied CLEANUP_GRANT = {0};
	struct error err = {0};
	put_specs();
	UNIT_INT(cdi_registry_read(&places, &registry, &err), 0);
	cdi_apply(&registry, grant, &applied);
	char *saw CLEANUP_FREE = describe(&applied);
	UNIT_STRING(saw, wanted);
}

static void expect_device(const char *name, const char *wanted)
{
	struct grant_entry device = {.name = name};
	expect(&(struct grant){.cdi_devices = {&device, 1}}, wanted);
}

#define OF_SPEC "ALL=own;env SEEN=all;"

static void test_edits(void)
{
	expect_device("v.com/gpu=a",
		      "env " OF_SPEC "mount /lib/a.so=/lib/a.so ro;device /dev/a=/dev/null rw;"
		      "device /dev/numbered=/dev/char/226:128 rwm;device /dev/plain=/dev/plain "
		      "rwm;ALL own not spec;");
	expect_device("w.com/gpu=a", "env W=dynamic;");
}

static void test_what_cannot_be_told_stays(void)
{
	expect_device("v.com/gpu=hooked", "env ALL=spec;env SEEN=all;cdi v.com/gpu=hooked;");
	expect_device("v.com/gpu=c", "cdi v.com/gpu=c;");
	expect_device("x.com/gpu=a", "cdi x.com/gpu=a;");
}

/* By annotations too, each device once, and in the place of what the request has. */
static void test_several(void)
{
	struct grant_entry device = {.name = "v.com/gpu=a"};
	struct grant_entry annotations[] = {
		{.name = "cdi.k8s.io/v_com", .value = "v.com/gpu=b,v.com/gpu=a"},
		{.name = "other", .value = "kept"},
	};
	struct grant_entry variable = {.name = "SEEN", .value = "mine", .resource = "v.com/gpu"};
	expect(&(struct grant){.cdi_devices = {&device, 1},
			       .annotations = {annotations, 2},
			       .envs = {&variable, 1}},
	       "env SEEN=all;env ALL=own;mount /lib/a.so=/lib/b.so;device /dev/a=/dev/null "
	       "rw;device /dev/numbered=/dev/char/226:128 rwm;device /dev/plain=/dev/plain rwm;"
	       "annotation other=kept;SEEN all not mine;ALL own not spec;"
	       "/lib/a.so /lib/b.so (rw) not /lib/a.so (ro);");
}

static void expect_why(const char *name, const char *wanted, const char *also)
{
	struct cdi_registry registry CLEANUP(cdi_registry_free) = {0};
	put_specs();
	UNIT_INT(cdi_registry_read(&places, &registry, NULL), 0);
	CU_ASSERT_PTR_NULL(cdi_registry_find(&registry, name));
	char *why CLEANUP_FREE = cdi_registry_explain(&registry, name);
	CU_ASSERT_TRUE(text_starts_with(why, wanted));
	UNIT_CONTAINS(why, also);
}

static void test_why_not(void)
{
	expect_why("v.com/gpu=c", "in no Spec", "");
	expect_why("nonsense", "in no Spec", "");
	expect_why("", "in no Spec", "");
	expect_why("y.com/gpu=a", "in no Spec; ", "wrong.json is not one: ");
	expect_why("z.com/gpu=a", "in no Spec; ", "z.com-gpu.yaml is not one: ");
	expect_why("x.com/gpu=a", "in two Specs of one folder: in ", "x2.json");
}

int main(void)
{
	CU_TestInfo tests[] = {{"edits", test_edits},
			       {"what cannot be told stays", test_what_cannot_be_told_stays},
			       {"several", test_several},
			       {"why not", test_why_not},
			       CU_TEST_INFO_NULL};
	return unit_run_in("CDI edits", open_folders, close_folders, tests);
}
