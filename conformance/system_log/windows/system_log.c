/* SPDX-License-Identifier: MIT */
#include "conformance/system_log/system_log.h"

#include "base/cleanup.h"
#include "base/library.h"
#include "base/memory.h"
#include "base/windows/wide.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <windows.h>

#include <winevt.h>

enum { EVENTS_MAX = 10000 };

struct system_log {
	EVT_HANDLE(WINAPI *query)
	(EVT_HANDLE session, const wchar_t *path, const wchar_t *query, DWORD flags);
	BOOL(WINAPI *next)
	(EVT_HANDLE result, DWORD size, EVT_HANDLE *events, DWORD timeout, DWORD flags,
	 DWORD *returned);
	EVT_HANDLE(WINAPI *context)(DWORD count, const wchar_t **paths, DWORD flags);
	BOOL(WINAPI *render)
	(EVT_HANDLE context, EVT_HANDLE fragment, DWORD flags, DWORD room, void *buffer,
	 DWORD *used, DWORD *properties);
	BOOL(WINAPI *close)(EVT_HANDLE object);
	EVT_HANDLE values; /* the context */
	uint64_t last;	   /* record that was seen */
};

/* In this order. Left out: the computer's name, the user. */
enum value { RECORD, PROVIDER, EVENT, DATA, VALUES };
static const wchar_t *paths[VALUES] = {
	L"Event/System/EventRecordID",
	L"Event/System/Provider/@Name",
	L"Event/System/EventID",
	L"Event/EventData/Data[1]",
};

static void read_event(struct system_log *log, EVT_HANDLE event, struct log_line *line)
{
	EVT_VARIANT values[256] = {{.Count = 0}}; /* followed by the strings */
	DWORD used = 0, count = 0;
	if (!log->render(log->values, event, EvtRenderEventValues, sizeof(values), values, &used,
			 &count) ||
	    count != VALUES || values[PROVIDER].Type != EvtVarTypeString)
		return;
	const wchar_t *first = values[DATA].Type == EvtVarTypeString ? values[DATA].StringVal : L"";
	char *provider CLEANUP_FREE = wide_to_utf8(values[PROVIDER].StringVal);
	char *data CLEANUP_FREE = wide_to_utf8(first);
	char *text CLEANUP_FREE =
		text_format("%s %u: %s", provider != NULL ? provider : "",
			    (unsigned)values[EVENT].UInt16Val, data != NULL ? data : "");
	if (values[RECORD].UInt64Val > log->last)
		log->last = values[RECORD].UInt64Val;
	(void)snprintf(line->when, sizeof(line->when), "record %llu",
		       (unsigned long long)values[RECORD].UInt64Val);
	log_line_set(line, text, strlen(text));
}

/* Reads each event that `query` finds, or without `each` the newest one. Returns GetLastError() of a
 * failure. */
static DWORD walk(struct system_log *log, const wchar_t *query, system_log_line *each, void *user)
{
	DWORD order = each == NULL ? EvtQueryReverseDirection : EvtQueryForwardDirection;
	EVT_HANDLE result = log->query(NULL, L"System", query, EvtQueryChannelPath | order);
	DWORD code = result == NULL ? GetLastError() : 0;
	if (result == NULL)
		return code != 0 ? code : ERROR_NOT_SUPPORTED;
	for (size_t i = 0; code == 0 && i < (each == NULL ? 1 : EVENTS_MAX); i++) {
		struct log_line line = {.text = ""};
		EVT_HANDLE event = NULL;
		DWORD count = 0;
		if (!log->next(result, 1, &event, 0, 0, &count) || count != 1) {
			code = GetLastError();
			break;
		}
		read_event(log, event, &line);
		(void)log->close(event);
		if (line.text[0] != '\0' && each != NULL)
			each(&line, user);
	}
	(void)log->close(result);
	return code == ERROR_NO_MORE_ITEMS ? 0 : code;
}

int system_log_open(const char *path, struct system_log **out, struct error *err)
{
	struct system_log *log CLEANUP_FREE = memory_allocate(1, sizeof(*log));
	void *library = NULL;
	(void)path;
	const struct {
		const char *name;
		void *function;
	} functions[] = {
		{"EvtQuery", &log->query},   {"EvtNext", &log->next},
		{"EvtRender", &log->render}, {"EvtCreateRenderContext", &log->context},
		{"EvtClose", &log->close},
	};
	int rc = library_open("wevtapi.dll", &library, err);
	for (size_t i = 0; rc == 0 && i < ARRAY_SIZE(functions); i++)
		rc = library_function(library, functions[i].name, functions[i].function, err);
	if (rc != 0)
		return rc;
	log->values = log->context(VALUES, paths, EvtRenderContextValues);
	DWORD code = log->values != NULL ? walk(log, L"*", NULL, NULL) : GetLastError();
	if (log->values == NULL || code != 0)
		return error_windows(err, code, "event log, channel System");
	*out = STEAL(log);
	return 0;
}

void system_log_close(struct system_log **log)
{
	if (*log != NULL)
		(void)(*log)->close((*log)->values);
	free(*log);
	*log = NULL;
}

void system_log_skip(struct system_log *log)
{
	(void)walk(log, L"*", NULL, NULL);
}

/* The providers are those of display drivers. Source: the vendors' drivers, Microsoft Learn. */
bool system_log_read(struct system_log *log, system_log_line *each, void *user)
{
	wchar_t query[512] = L"";
	(void)swprintf(query, ARRAY_SIZE(query),
		       L"*[System[Provider[@Name='Display' or @Name='nvlddmkm' or "
		       L"@Name='amdkmdag' or @Name='amdwddmg' or @Name='igfxn'] and "
		       L"(EventRecordID > %llu)]]",
		       (unsigned long long)log->last);
	return walk(log, query, each, user) == 0;
}
