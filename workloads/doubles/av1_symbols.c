/* SPDX-License-Identifier: MIT */
#include "workloads/doubles/av1_symbols.h"

enum { ONE = 32768, WINDOW = 16 /* bits of `low` */ };

void av1_symbols_begin(struct av1_symbols *symbols)
{
	*symbols = (struct av1_symbols){.range = ONE};
}

static void shift(struct av1_symbols *symbols)
{
	symbols->low <<= 1;
	const char bit = (char)(symbols->low >> WINDOW & 1);
	text_append(&symbols->bits, &bit, 1);
	symbols->low &= (1u << WINDOW) - 1;
}

static void add(struct av1_symbols *symbols, uint32_t value)
{
	size_t at = symbols->bits.size;
	symbols->low += value;
	if (symbols->low >> WINDOW == 0)
		return;
	symbols->low &= (1u << WINDOW) - 1;
	while (at > 0 && symbols->bits.data[--at] == 1)
		symbols->bits.data[at] = 0;
	symbols->bits.data[at] = 1;
}

/* 8.2.6: the rest of the range after the symbols up to one. */
static uint32_t rest(const struct av1_symbols *symbols, const uint16_t *cdf, unsigned count,
		     unsigned symbol)
{
	const uint32_t unlikely = ONE - (uint32_t)cdf[symbol];
	return ((symbols->range >> 8) * (unlikely >> 6) >> 1) + 4 * (count - symbol - 1);
}

static void adapt(uint16_t *cdf, unsigned count, unsigned symbol)
{
	const unsigned used = cdf[count] > 31 ? 2 : cdf[count] > 15 ? 1 : 0;
	const unsigned rate = 3 + used + (count > 3 ? 2 : 1);
	for (unsigned i = 0; i + 1 < count; i++) {
		if (i >= symbol)
			cdf[i] = (uint16_t)(cdf[i] + ((ONE - cdf[i]) >> rate));
		else
			cdf[i] = (uint16_t)(cdf[i] - (cdf[i] >> rate));
	}
	cdf[count] = (uint16_t)(cdf[count] + (cdf[count] < 32));
}

static void put(struct av1_symbols *symbols, const uint16_t *cdf, unsigned count, unsigned symbol)
{
	const uint32_t from = symbol > 0 ? rest(symbols, cdf, count, symbol - 1) : symbols->range;
	add(symbols, symbols->range - from);
	symbols->range = from - rest(symbols, cdf, count, symbol);
	for (; symbols->range < ONE; symbols->range <<= 1)
		shift(symbols);
}

void av1_put_symbol(struct av1_symbols *symbols, uint16_t *cdf, unsigned count, unsigned symbol)
{
	put(symbols, cdf, count, symbol);
	adapt(cdf, count, symbol);
}

void av1_put_literal(struct av1_symbols *symbols, unsigned value, unsigned count)
{
	static const uint16_t even[] = {ONE / 2, ONE, 0};
	while (count-- > 0)
		put(symbols, even, 2, value >> count & 1);
}

/* Writes a value in the range whose last bit is a one, without the bit before the first. */
void av1_symbols_end(struct av1_symbols *symbols, struct text *out)
{
	const uint32_t step = 1u << (WINDOW - 2);
	add(symbols, (((symbols->low + step - 1) & ~(step - 1)) | step) - symbols->low);
	for (unsigned i = 0; i < WINDOW; i++)
		shift(symbols);
	for (size_t i = 1; i < symbols->bits.size; i += 8) {
		unsigned byte = 0;
		for (size_t bit = i; bit < i + 8; bit++)
			byte = byte << 1 |
			       (bit < symbols->bits.size ? (unsigned)symbols->bits.data[bit] : 0);
		const char last = (char)byte;
		text_append(out, &last, 1);
	}
	text_free(&symbols->bits);
}
