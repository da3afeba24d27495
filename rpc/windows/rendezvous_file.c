/* SPDX-License-Identifier: MIT */
#include "base/cleanup.h"
#include "base/file.h"
#include "base/text.h"
#include "base/windows/wide.h"
#include "rpc/windows/winsock.h"

#include <string.h>

int rendezvous_read(const char *path, struct rendezvous *out, struct error *err)
{
	char *text CLEANUP_FREE = NULL;
	size_t size = 0;
	int rc = file_read(path, RENDEZVOUS_TEXT_MAX, &text, &size, err);
	return rc < 0 ? rc : rendezvous_parse(text, size, out, err);
}

int rendezvous_write(const char *path, unsigned mode, const struct rendezvous *rendezvous,
		     struct error *err)
{
	char text[RENDEZVOUS_TEXT_MAX];
	char *new CLEANUP_FREE = text_format("%s.%lu", path, (unsigned long)GetCurrentProcessId());
	wchar_t *from CLEANUP_FREE = new == NULL ? NULL : wide_path(new);
	wchar_t *to CLEANUP_FREE = wide_path(path);
	if (from == NULL || to == NULL)
		return error_memory(err);
	rendezvous_format(rendezvous, text);
	int rc = file_write_atomic(new, text, strlen(text), mode, err);
	if (rc < 0)
		return rc;
	if (MoveFileExW(from, to, 0))
		return 0;
	rc = error_windows(err, GetLastError(), "cannot make %s", path);
	(void)DeleteFileW(from);
	return rc;
}
