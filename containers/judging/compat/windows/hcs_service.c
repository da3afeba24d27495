/* SPDX-License-Identifier: MIT */
#include "containers/judging/compat/hcs_service.h"
#include "base/cleanup.h"
#include "base/library.h"
#include "base/text.h"
#include "base/utf16.h"

#include <wchar.h>
#include <windows.h>

enum { ANSWER_MAX = 1024 * 1024 }; /* UTF-16 units */

static const wchar_t query[] = L"{\"PropertyTypes\":[\"Basic\"]}";

/* The texts are the caller's, to be freed with LocalFree() (Microsoft, HcsGetServiceProperties and
 * its sample code). */
typedef HRESULT WINAPI computecore_fn(PCWSTR query, PWSTR *result);

/* Called by Docker and hcsshim: `result` describes errors, and may stay NULL. */
typedef HRESULT WINAPI vmcompute_fn(PCWSTR query, PWSTR *properties, PWSTR *result);

#define CLEANUP_LOCAL CLEANUP(free_local)

static void free_local(PWSTR *text)
{
	if (*text != NULL)
		(void)LocalFree(*text);
}

static const char *const libraries[] = {"computecore.dll", "vmcompute.dll"};

static int ask(void *library, const char *name, struct hcs_versions *out, struct error *err)
{
	PWSTR answer CLEANUP_LOCAL = NULL;
	PWSTR result CLEANUP_LOCAL = NULL;
	computecore_fn *computecore = NULL;
	vmcompute_fn *vmcompute = NULL;
	bool new = name == libraries[0];
	int rc = new ? library_function(library, "HcsGetServiceProperties", &computecore, err)
		     : library_function(library, "HcsGetServiceProperties", &vmcompute, err);
	if (rc < 0)
		return rc;
	HRESULT hr = new ? computecore(query, &answer) : vmcompute(query, &answer, &result);
	if (!SUCCEEDED(hr)) {
		char *what CLEANUP_FREE = text_format("HcsGetServiceProperties() of %s", name);
		return hcs_error_set(err, what, (unsigned)hr);
	}

	if (answer == NULL)
		return error_set(err, ERROR_UNAVAILABLE,
				 "HcsGetServiceProperties() answered nothing");
	size_t size = wcsnlen(answer, ANSWER_MAX);
	if (size == ANSWER_MAX)
		return error_set(err, ERROR_LIMIT,
				 "HcsGetServiceProperties() answered with more than "
				 "1 Mi characters");
	char *json CLEANUP_FREE = utf16_to_utf8((const uint16_t *)answer, size);
	rc = hcs_versions_parse(json, strlen(json), out, err);
	if (rc < 0)
		return error_wrap(err, rc, "answer of HcsGetServiceProperties()");
	return 0;
}

int hcs_service_ask(struct hcs_service *out, struct error *err)
{
	*out = (struct hcs_service){0};
	for (size_t i = 0; i < ARRAY_SIZE(libraries); i++) {
		struct error problem = {0};
		void *library = NULL;
		int rc = library_open(libraries[i], &library, &problem);
		if (rc == 0)
			rc = ask(library, libraries[i], &out->versions, &problem);
		if (rc == 0) {
			out->library = libraries[i];
			library_version(library, out->library_version,
					sizeof(out->library_version));
			return 0;
		}
		/* ERROR_NOT_FOUND: the library or its function is missing, or the answer has no
		 * versions. Try the next library. */
		if (rc != ERROR_NOT_FOUND)
			return error_copy(err, &problem);
	}
	return error_set(err, ERROR_UNSUPPORTED,
			 "this machine has no Host Compute Service (neither computecore.dll nor "
			 "vmcompute.dll): the feature \"Containers\" or \"Hyper-V\" brings it");
}
