/* SPDX-License-Identifier: MIT */
/* The manifests of reports: those of folders, and a stranger's. */
#include "reports/certificates/publish/publication.h"

#include "base/file.h"
#include "base/json.h"
#include "base/path.h"
#include "base/tests/own_directory.h"
#include "reports/certificates/publish/tests/folder_maker.h"

#define EMPTY_DIGEST "sha256:44136fa355b3678a1146ad16f7e8649e94fb4fc21fe77e8310c060f61caaff8a"
#define CONFIG                                                                                     \
	"\"config\": {\"mediaType\": \"application/vnd.oci.empty.v1+json\", \"digest\": "          \
	"\"" EMPTY_DIGEST "\", \"size\": 2}"

static int make(struct publication *out, struct error *err)
{
	*err = (struct error){0};
	return publication_make(directory, NULL, out, err);
}

static void test_folder(void)
{
	struct publication what CLEANUP_PUBLICATION = {0};
	struct publication again CLEANUP_PUBLICATION = {0};
	struct error err = {0};
	begin();
	sample_make(directory, "run-1");
	sample_put(directory, "notes.txt", "mine", 4);
	sample_put(directory, "evidence/a.one/other.txt", "mine", 4);
	sample_put(directory, "evidence/a.two/01-old.txt", "mine", 4);
	UNIT_INT(make(&what, &err), 0);
	UNIT_STRING(err.text, "");
	UNIT_NEED(what.manifest.layer_count == sample_files());
	CU_ASSERT_PTR_NOT_NULL(publication_find(&what, "journal.ndjson"));
	UNIT_NEED(publication_find(&what, FOLDER_JSON) != NULL);
	UNIT_STRING(publication_find(&what, FOLDER_JSON)->media_type, "application/json");
	UNIT_STRING(publication_find(&what, FOLDER_TEXT)->media_type, "text/plain");
	UNIT_INT(publication_find(&what, FOLDER_LARGE)->size, FOLDER_LARGE_SIZE);
	CU_ASSERT_PTR_NULL(publication_find(&what, "notes.txt"));
	const struct {
		const char *name, *value;
	} annotations[] = {
		{"gpucert.internal/run", "run-1"},
		{"gpucert.internal/verdict", "incomplete"},
		{"gpucert.internal/os", "Windows Server 2022 20348.1547"},
		{"gpucert.internal/drivers", "nvidia 552.12"},
	};
	for (size_t i = 0; i < ARRAY_SIZE(annotations); i++)
		UNIT_STRING(image_pair_value(what.manifest.annotations,
					     what.manifest.annotation_count, annotations[i].name),
			    annotations[i].value);
	/* Made again it is the same; certified it is another. */
	UNIT_INT(make(&again, &err), 0);
	UNIT_STRING(again.digest, what.digest);
	publication_free(&again);
	sample_put(directory, "product.yaml", "a: b\n", 5);
	UNIT_INT(make(&again, &err), 0);
	UNIT_INT(again.manifest.layer_count, sample_files() + 1);
	CU_ASSERT_STRING_NOT_EQUAL(again.digest, what.digest);
	end();
}

/* What the run did not store is not published. */
static void test_changed_folder(void)
{
	struct publication what CLEANUP_PUBLICATION = {0};
	struct error err = {0};
	char *evidence CLEANUP_FREE = NULL;
	begin();
	UNIT_INT(make(&what, &err), ERROR_FORMAT);
	UNIT_CONTAINS(err.text, "is missing");
	sample_make(directory, "run-1");
	evidence = in(FOLDER_TEXT);
	sample_put(directory, FOLDER_TEXT, "run-2", 5);
	UNIT_INT(make(&what, &err), ERROR_FORMAT);
	UNIT_CONTAINS(err.text, "1 fault, the first: ");
	UNIT_CONTAINS(err.text, FOLDER_TEXT);
	UNIT_INT(file_remove_tree(evidence, NULL), 0);
	UNIT_INT(make(&what, &err), ERROR_FORMAT);
	sample_put(directory, FOLDER_TEXT, "run-1", 5);
	UNIT_INT(make(&what, &err), 0);
	publication_free(&what);
	/* A report that says more than its journal. */
	char *stored CLEANUP_FREE = in("report.json");
	char *data CLEANUP_FREE = NULL;
	UNIT_INT(file_read(stored, 1 << 20, &data, NULL, NULL), 0);
	char *outcome = strstr(data, "\"unsupported\"");
	UNIT_NEED(outcome != NULL);
	outcome[1] = 'U';
	sample_put(directory, "report.json", data, strlen(data));
	UNIT_INT(make(&what, &err), ERROR_FORMAT);
	UNIT_CONTAINS(err.text, "report.json is not");
	sample_put(directory, "journal.ndjson", "{}\n", 3);
	UNIT_INT(make(&what, &err), ERROR_FORMAT);
	end();
}

static int read_text(const char *json, struct error *err)
{
	struct publication what CLEANUP_PUBLICATION = {0};
	struct text document CLEANUP_TEXT = {0};
	text_add(&document, json);
	*err = (struct error){0};
	return publication_read(&document, &what, err);
}

/* The layers of a manifest that has the journal beside them. */
static int read_layers(const char *layers, struct error *err)
{
	char *json CLEANUP_FREE = text_format(
		"{\"schemaVersion\": 2, \"artifactType\": \"" PUBLICATION_TYPE "\", " CONFIG
		", \"layers\": [{\"mediaType\": \"a/b\", \"digest\": \"" EMPTY_DIGEST
		"\", \"size\": 2, \"annotations\": {\"" OCI_TITLE "\": \"journal.ndjson\"}}%s]}",
		layers);
	return read_text(json, err);
}

static char *layer(const char *title, const char *size)
{
	return text_format(", {\"mediaType\": \"a/b\", \"digest\": \"" EMPTY_DIGEST
			   "\", \"size\": %s, \"annotations\": {\"" OCI_TITLE "\": \"%s\"}}",
			   size, title);
}

static void test_titles(void)
{
	static const char *const good[] = {
		"report.json",	    "junit.xml",
		"attestation.json", "README.md",
		"evidence/a/b",	    "evidence/list-and-watch.idle/01-0000:01:00.0.txt",
		"evidence/a/b/c/d",
	};
	static const char *const bad[] = {
		"",
		"report.exe",
		".bashrc",
		"Report.json",
		"/etc/passwd",
		"../report.json",
		"evidence",
		"evidence/",
		"evidence//a",
		"evidence/../report.json",
		"evidence/a/../../b",
		"evidence/a/..",
		"evidence/./a",
		"evidence/a/",
		"evidence/.git/config",
		"evidence\\\\a",
		"evidence/a\\\\b",
		"C:\\\\a",
		"evidence/C:/a ",
		"evidence/a b",
		"evidence/CON",
		"evidence/a/nul.txt",
		"evidence/a/COM1",
		"evidence/a.",
		"evidence/a\\n",
		"evidence/\\u202etxt",
		"evidence/a%2fb",
		"evidence/~",
		"manifest.json",
		".pull-00",
	};
	for (size_t i = 0; i < ARRAY_SIZE(good); i++) {
		struct error err = {0};
		char *layers CLEANUP_FREE = layer(good[i], "2");
		UNIT_INT(read_layers(layers, &err), 0);
		UNIT_STRING(err.text, "");
	}
	for (size_t i = 0; i < ARRAY_SIZE(bad); i++) {
		struct error err = {0};
		char *layers CLEANUP_FREE = layer(bad[i], "2");
		if (read_layers(layers, &err) == 0)
			(void)printf("\n%s is accepted\n", bad[i]);
		UNIT_INT(err.code, ERROR_FORMAT);
		UNIT_CONTAINS(err.text, "not the name of a file of a report");
	}
}

static void test_long_title(void)
{
	struct error err = {0};
	char long_name[PUBLICATION_TITLE_MAX + 1] = "evidence/";
	memset(long_name + 9, 'a', PUBLICATION_TITLE_MAX - 9);
	char *fits CLEANUP_FREE = layer(long_name, "2");
	UNIT_INT(read_layers(fits, &err), ERROR_FORMAT); /* a name of Windows is at most 255 long */
	for (size_t i = 200; i < PUBLICATION_TITLE_MAX; i += 200)
		long_name[i] = '/';
	char *parts CLEANUP_FREE = layer(long_name, "2");
	UNIT_INT(read_layers(parts, &err), 0);
	char *longer CLEANUP_FREE = text_format("%sa", long_name);
	char *beyond CLEANUP_FREE = layer(longer, "2");
	UNIT_INT(read_layers(beyond, &err), ERROR_FORMAT);
}

static void test_twice(void)
{
	struct error err = {0};
	char *one CLEANUP_FREE = layer("evidence/a/b", "2");
	char *other CLEANUP_FREE = layer("evidence/A/b", "2");
	char *both CLEANUP_FREE = text_format("%s%s", one, other);
	UNIT_INT(read_layers(both, &err), ERROR_FORMAT);
	UNIT_CONTAINS(err.text, "evidence/A/b appears twice");
	char *journal CLEANUP_FREE = layer("journal.ndjson", "2");
	UNIT_INT(read_layers(journal, &err), ERROR_FORMAT);
	UNIT_CONTAINS(err.text, "journal.ndjson appears twice");
}

static void test_sizes(void)
{
	struct error err = {0};
	struct text many CLEANUP_TEXT = {0};
	struct text heavy CLEANUP_TEXT = {0};
	char *large CLEANUP_FREE = layer("report.json", "67108865");
	UNIT_INT(read_layers(large, &err), ERROR_LIMIT);
	UNIT_CONTAINS(err.text, "report.json has 67108865 bytes");
	char *negative CLEANUP_FREE = layer("report.json", "-1");
	CU_ASSERT_TRUE(read_layers(negative, &err) < 0);
	for (int i = 0; i < 17; i++) {
		char *title CLEANUP_FREE = text_format("evidence/a/%d", i);
		char *one CLEANUP_FREE = layer(title, "67108864");
		text_add(&heavy, one);
	}
	UNIT_INT(read_layers(text_string(&heavy), &err), ERROR_LIMIT);
	UNIT_CONTAINS(err.text, "the files have");
	for (int i = 0; i < IMAGE_LAYERS_MAX; i++) {
		char *title CLEANUP_FREE = text_format("evidence/a/%d", i);
		char *one CLEANUP_FREE = layer(title, "1");
		text_add(&many, one);
	}
	UNIT_INT(read_layers(text_string(&many), &err), ERROR_LIMIT);
	UNIT_CONTAINS(err.text, "layers: more than");
}

#define SIXTEEN "00000000000000000000000000000000"

static void test_types(void)
{
	static const struct {
		const char *json, *part;
	} cases[] = {
		{"{\"config\": {\"mediaType\": \"application/vnd.oci.image.config.v1+json\", "
		 "\"digest\": \"" EMPTY_DIGEST "\", \"size\": 2}, \"layers\": []}",
		 "not a report, but an image"},
		{"{\"artifactType\": \"application/spdx+json\", " CONFIG ", \"layers\": []}",
		 "not a report, but an artifact of type application/spdx+json"},
		{"{\"manifests\": []}", "not a report, but " OCI_INDEX},
		{"{\"artifactType\": \"" PUBLICATION_TYPE "\", " CONFIG ", \"layers\": []}",
		 "a report without journal.ndjson"},
		{"{\"artifactType\": \"" PUBLICATION_TYPE "\", " CONFIG "}", "layers"},
		{"{\"artifactType\": \"" PUBLICATION_TYPE "\", " CONFIG
		 ", \"layers\": [], \"manifests\": []}",
		 "both an index and a manifest"},
		{"{\"artifactType\": \"" PUBLICATION_TYPE "\", " CONFIG
		 ", \"layers\": [{\"mediaType\": \"a/b\", \"size\": 2, \"digest\": \"sha512:" SIXTEEN
			 SIXTEEN SIXTEEN SIXTEEN "\", \"annotations\": {\"" OCI_TITLE
		 "\": \"journal.ndjson\"}}]}",
		 "journal.ndjson has a digest other than SHA-256"},
		{"[]", "manifest: "},
		{"", "manifest: "},
	};
	for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
		struct error err = {0};
		CU_ASSERT_TRUE(read_text(cases[i].json, &err) < 0);
		UNIT_CONTAINS(err.text, cases[i].part);
	}
}

UNIT_MAIN("publication", {"a folder", test_folder}, {"a changed folder", test_changed_folder},
	  {"titles", test_titles}, {"long titles", test_long_title}, {"twice", test_twice},
	  {"sizes", test_sizes}, {"types", test_types})
