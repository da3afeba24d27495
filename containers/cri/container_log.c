/* SPDX-License-Identifier: MIT */
#include "containers/cri/container_log.h"

#include "base/cleanup.h"
#include "base/file.h"

#include <string.h>

/* Keeps the first and the last half of the limit. */
static void stream_trim(struct container_stream *stream)
{
	struct text *content = &stream->content;
	size_t tail = stream->max / 2;
	size_t head = stream->max - tail;
	if (content->size <= stream->max)
		return;
	memmove(content->data + head, content->data + content->size - tail, tail);
	content->size = stream->max;
	content->data[content->size] = '\0';
}

/* Trims only at twice the limit, so that a long stream costs one copy of each byte. */
static void stream_add(struct container_stream *stream, const char *data, size_t size)
{
	text_append(&stream->content, data, size);
	if (stream->content.size / 2 > stream->max)
		stream_trim(stream);
}

/* Consumes the next field of the record and the space after it. False: no space follows. */
static bool take_field(const char **record, const char *end, const char **field, size_t *size)
{
	const char *space = memchr(*record, ' ', (size_t)(end - *record));
	if (space == NULL)
		return false;
	*field = *record;
	*size = (size_t)(space - *record);
	*record = space + 1;
	return true;
}

/* Begins with the shape of "2026-11-20T10:15:02". */
static bool is_time(const char *field, size_t size)
{
	static const char shape[] = "0000-00-00T00:00:00"; /* 0 stands for any digit */
	if (size <= sizeof(shape) - 1)
		return false;
	for (size_t i = 0; i < sizeof(shape) - 1; i++) {
		bool digit = field[i] >= '0' && field[i] <= '9';
		if (shape[i] == '0' ? !digit : field[i] != shape[i])
			return false;
	}
	return true;
}

/* NULL when the record is well-formed, else what is wrong with it. */
static const char *read_record(struct container_log *log, const char *record, size_t size)
{
	const char *end = record + size;
	const char *field = NULL;
	size_t length = 0;
	if (!take_field(&record, end, &field, &length) || !is_time(field, length))
		return "no timestamp";
	if (!take_field(&record, end, &field, &length))
		return "no stream";
	struct container_stream *stream = NULL;
	if (text_is(field, length, "stdout"))
		stream = &log->out;
	else if (text_is(field, length, "stderr"))
		stream = &log->err;
	else
		return "stream is neither stdout nor stderr";
	if (!take_field(&record, end, &field, &length))
		return "no tags";
	if ((length > 1 && field[1] != ':') || length == 0 || (*field != 'F' && *field != 'P'))
		return "first tag is neither F nor P";
	stream_add(stream, record, (size_t)(end - record));
	if (*field == 'F')
		stream_add(stream, "\n", 1);
	return NULL;
}

static void note_malformed(struct container_log *log, const char *why)
{
	if (log->malformed++ > 0)
		return;
	log->malformed_line = log->lines;
	log->malformed_why = why;
}

void container_log_begin(struct container_log *log, size_t stream_max)
{
	*log = (struct container_log){
		.out = {.max = stream_max},
		.err = {.max = stream_max},
		.malformed_why = "",
	};
}

void container_log_feed(struct container_log *log, const char *data, size_t size)
{
	while (size > 0) {
		const char *newline = memchr(data, '\n', size);
		size_t part = newline != NULL ? (size_t)(newline - data) : size;
		if (log->pending.size + part > CONTAINER_LOG_RECORD_MAX)
			log->skipping = true;
		if (!log->skipping)
			text_append(&log->pending, data, part);
		if (newline == NULL)
			return;
		data += part + 1;
		size -= part + 1;

		const char *why = log->skipping ? "record is too long"
						: read_record(log, text_string(&log->pending),
							      log->pending.size);
		log->lines++;
		if (why != NULL)
			note_malformed(log, why);
		log->skipping = false;
		text_reset(&log->pending);
	}
}

void container_log_end(struct container_log *log)
{
	if (log->pending.size > 0 || log->skipping) {
		log->lines++;
		note_malformed(log, "last record has no end");
	}
	stream_trim(&log->out);
	stream_trim(&log->err);
}

void container_log_free(struct container_log *log)
{
	text_free(&log->out.content);
	text_free(&log->err.content);
	text_free(&log->pending);
}

int container_log_read(struct container_log *log, const char *path, size_t stream_max,
		       struct error *err)
{
	container_log_begin(log, stream_max);

	int fd CLEANUP_FD = -1;
	int rc = file_open_to_read(path, &fd, err);
	if (rc < 0)
		return rc;

	char chunk[16384];
	size_t count = 0;
	do {
		rc = file_read_some(fd, path, chunk, sizeof(chunk), &count, err);
		if (rc < 0)
			return rc;
		container_log_feed(log, chunk, count);
	} while (count > 0);
	container_log_end(log);
	return 0;
}
