/* SPDX-License-Identifier: MIT */
#include "base/process_internal.h"

#include <string.h>

/* Shortens the tail to `tail` bytes; the head stays where it is. */
static void process_output_cut(struct process_output *output, size_t head, size_t tail)
{
	struct text *text = output->captured;
	size_t excess = text->size - head - tail;
	memmove(text->data + head, text->data + head + excess, tail);
	text->size -= excess;
	text->data[text->size] = '\0';
	*output->dropped += excess;
}

void process_output_add(struct process_output *output, const char *data, size_t size)
{
	size_t head = output->capture_max / 2;
	size_t tail = output->capture_max - head;
	text_append(output->captured, data, size);
	if (output->captured->failed)
		*output->dropped += size; /* out of memory */
	/* Cutting only when the tail has doubled keeps the moving linear in what arrives. */
	else if (output->captured->size > head + 2 * tail)
		process_output_cut(output, head, tail);
}

void process_output_trim(struct process_output *output)
{
	size_t head = output->capture_max / 2;
	if (output->captured->size > output->capture_max)
		process_output_cut(output, head, output->capture_max - head);
}

void process_output_lines(struct process_output *output, const char *data, size_t size,
			  const bool *wanted, process_line_fn *on_line, void *user)
{
	while (size > 0 && *wanted) {
		const char *newline = memchr(data, '\n', size);
		size_t part = newline != NULL ? (size_t)(newline - data) : size;
		size_t room = PROCESS_LINE_MAX - output->line.size;
		bool whole = newline != NULL && part <= room;
		if (part > room)
			part = room;
		text_append(&output->line, data, part);
		data += part + (whole ? 1 : 0);
		size -= part + (whole ? 1 : 0);
		if (!whole && output->line.size < PROCESS_LINE_MAX)
			continue;
		/* A full line whose newline is not here yet waits for it: the next byte decides. */
		if (!whole && size == 0)
			return;
		on_line(user, text_string(&output->line), output->line.size);
		text_reset(&output->line);
	}
}

void process_output_last_line(struct process_output *output, process_line_fn *on_line, void *user)
{
	if (output->line.size != 0)
		on_line(user, text_string(&output->line), output->line.size);
	text_reset(&output->line);
}
