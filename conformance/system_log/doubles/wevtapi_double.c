/* SPDX-License-Identifier: MIT */
/*
 * Windows' event log for tests, in place of wevtapi.dll. wevtapi_double_set() sets its events: one a line, "RECORD
 * PROVIDER EVENT DATA". It knows the queries "*", and one with a list of providers and the least record, as the product
 * sends it; any other is refused.
 */
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <wchar.h>
#include <windows.h>

#include <winevt.h>

#define EXPORT __attribute__((dllexport))

enum { EVENTS_MAX = 16, VALUES = 4 };

static struct event {
	unsigned long long record;
	wchar_t provider[64], data[64];
	unsigned id;
} events[EVENTS_MAX];
static size_t event_count;

static struct query {
	size_t found[EVENTS_MAX], count, next;
} query;

static int context;

EXPORT void wevtapi_double_set(const char *text);
void wevtapi_double_set(const char *text)
{
	event_count = 0;
	while (*text != '\0' && event_count < EVENTS_MAX) {
		struct event *event = &events[event_count];
		char provider[64] = "", data[64] = "";
		if (sscanf(text, "%llu %63s %u %63s", &event->record, provider, &event->id, data) ==
		    4) {
			(void)swprintf(event->provider, 64, L"%hs", provider);
			(void)swprintf(event->data, 64, L"%hs", data);
			event_count++;
		}
		text += strcspn(text, "\n");
		text += *text == '\n';
	}
}

static bool finds(const wchar_t *path, const struct event *event)
{
	wchar_t name[96] = L"";
	const wchar_t *least = wcsstr(path, L"EventRecordID > ");
	if (wcscmp(path, L"*") == 0)
		return true;
	(void)swprintf(name, 96, L"@Name='%ls'", event->provider);
	return least != NULL && wcsstr(path, name) != NULL &&
	       event->record > wcstoull(least + wcslen(L"EventRecordID > "), NULL, 10);
}

EXPORT EVT_HANDLE WINAPI EvtQuery(EVT_HANDLE session, LPCWSTR channel, LPCWSTR path, DWORD flags)
{
	(void)session;
	if (event_count == 1 && wcscmp(events[0].provider, L"forbidden") == 0) {
		SetLastError(ERROR_ACCESS_DENIED);
		return NULL;
	}
	if (wcscmp(channel, L"System") != 0 || (flags & EvtQueryChannelPath) == 0 ||
	    (wcscmp(path, L"*") != 0 && wcsncmp(path, L"*[System[", 9) != 0)) {
		SetLastError(ERROR_EVT_INVALID_QUERY);
		return NULL;
	}
	query = (struct query){.count = 0};
	for (size_t i = 0; i < event_count; i++) {
		size_t at = (flags & EvtQueryReverseDirection) != 0 ? event_count - 1 - i : i;
		if (finds(path, &events[at]))
			query.found[query.count++] = at;
	}
	return &query;
}

EXPORT BOOL WINAPI EvtNext(EVT_HANDLE result, DWORD size, EVT_HANDLE *out, DWORD timeout,
			   DWORD flags, PDWORD returned)
{
	(void)timeout;
	(void)flags;
	*returned = 0;
	if (result != &query || size != 1 || query.next == query.count) {
		SetLastError(ERROR_NO_MORE_ITEMS);
		return FALSE;
	}
	out[0] = &events[query.found[query.next++]];
	*returned = 1;
	return TRUE;
}

EXPORT EVT_HANDLE WINAPI EvtCreateRenderContext(DWORD count, LPCWSTR *paths, DWORD flags)
{
	return count == VALUES && flags == EvtRenderContextValues &&
			       wcscmp(paths[1], L"Event/System/Provider/@Name") == 0
		       ? &context
		       : NULL;
}

EXPORT BOOL WINAPI EvtRender(EVT_HANDLE values, EVT_HANDLE fragment, DWORD flags, DWORD room,
			     PVOID buffer, PDWORD used, PDWORD count)
{
	const struct event *event = fragment;
	EVT_VARIANT *out = buffer;
	if (values != &context || flags != EvtRenderEventValues || room < VALUES * sizeof(*out)) {
		SetLastError(ERROR_INSUFFICIENT_BUFFER);
		return FALSE;
	}
	memset(out, 0, VALUES * sizeof(*out));
	out[0].UInt64Val = event->record;
	out[0].Type = EvtVarTypeUInt64;
	out[1].StringVal = event->provider;
	out[1].Type = EvtVarTypeString;
	out[2].UInt16Val = (UINT16)event->id;
	out[2].Type = EvtVarTypeUInt16;
	out[3].StringVal = event->data;
	out[3].Type = wcscmp(event->data, L"-") != 0 ? EvtVarTypeString : EvtVarTypeNull;
	*used = VALUES * sizeof(*out);
	*count = VALUES;
	return TRUE;
}

EXPORT BOOL WINAPI EvtClose(EVT_HANDLE object)
{
	return object == &query || object == &context ||
	       ((struct event *)object >= events && (struct event *)object < events + EVENTS_MAX);
}
