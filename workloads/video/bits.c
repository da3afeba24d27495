/* SPDX-License-Identifier: MIT */
#include "workloads/video/bits.h"

bool bits_flag(struct bits *bits)
{
	if (bits->escaped && bits->at % 8 == 0 && bits->at / 8 < bits->size) {
		/* Skip the byte that only prevents a start code. */
		if (bits->zeros >= 2 && bits->data[bits->at / 8] == 3) {
			bits->at += 8;
			bits->zeros = 0;
		}
		if (bits->at / 8 < bits->size)
			bits->zeros = bits->data[bits->at / 8] == 0 ? bits->zeros + 1 : 0;
	}

	const size_t byte = bits->at / 8;
	if (byte >= bits->size) {
		bits->overrun = true;
		return false;
	}
	return (bits->data[byte] >> (7 - bits->at++ % 8) & 1) != 0;
}

uint32_t bits_read(struct bits *bits, unsigned count)
{
	uint32_t value = 0;

	for (unsigned i = 0; i < count; i++)
		value = value << 1 | bits_flag(bits);
	return value;
}

void bits_skip(struct bits *bits, unsigned count)
{
	for (unsigned i = 0; i < count && !bits->overrun; i++)
		(void)bits_flag(bits);
}

uint32_t bits_read_ue(struct bits *bits)
{
	unsigned zeros = 0;

	while (zeros < 32 && !bits->overrun && !bits_flag(bits))
		zeros++;
	if (zeros == 32)
		bits->overrun = true;
	if (bits->overrun)
		return 0;
	return (uint32_t)((UINT64_C(1) << zeros) - 1) + bits_read(bits, zeros);
}

int32_t bits_read_se(struct bits *bits)
{
	const uint32_t code = bits_read_ue(bits);

	return code % 2 == 1 ? (int32_t)(code / 2 + 1) : -(int32_t)(code / 2);
}

void bits_skip_ue(struct bits *bits, uint32_t count)
{
	for (uint32_t i = 0; i < count && !bits->overrun; i++)
		(void)bits_read_ue(bits);
}
