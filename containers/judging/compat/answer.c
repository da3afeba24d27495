/* SPDX-License-Identifier: MIT */
#include "containers/judging/compat/answer.h"

#include "base/members.h"
#include "base/style.h"

static const struct {
	const char *name, *words;
	enum style style;
} verdicts[] = {
	[COMPAT_WORKS] = {"works", "works", STYLE_GREEN},
	[COMPAT_UNKNOWN] = {"unknown", "unknown", STYLE_YELLOW},
	[COMPAT_HYPERV] = {"hyper-v-only", "works only with Hyper-V isolation (then no GPU)",
			   STYLE_YELLOW},
	[COMPAT_CANNOT_WORK] = {"cannot-work", "cannot work", STYLE_RED},
};

void compat_answer_free(struct compat_answer *answer)
{
	arena_free(&answer->arena);
	*answer = (struct compat_answer){0};
}

enum compat_verdict compat_answer_verdict(const struct compat_answer *answer)
{
	enum compat_verdict worst = answer->count == 0 ? COMPAT_UNKNOWN : COMPAT_WORKS;
	for (size_t i = 0; i < answer->count; i++) {
		if (answer->findings[i].verdict > worst)
			worst = answer->findings[i].verdict;
	}
	return worst;
}

const char *compat_verdict_name(enum compat_verdict verdict)
{
	return verdicts[verdict].name;
}

const char *compat_verdict_words(enum compat_verdict verdict)
{
	return verdicts[verdict].words;
}

void compat_answer_print(const struct compat_answer *answer, bool color, struct text *out)
{
	enum compat_verdict all = compat_answer_verdict(answer);
	text_addf(out, "%s%s%s\n", style(color, verdicts[all].style), verdicts[all].words,
		  style(color, STYLE_RESET));
	for (int verdict = COMPAT_CANNOT_WORK; verdict >= COMPAT_WORKS; verdict--) {
		for (size_t i = 0; i < answer->count; i++) {
			const struct compat_finding *finding = &answer->findings[i];
			if ((int)finding->verdict != verdict)
				continue;
			text_addf(out, "\n%s%s%s: %s\n", style(color, verdicts[verdict].style),
				  finding->rule, style(color, STYLE_RESET),
				  verdicts[verdict].words);
			text_add_line(out, "  %s", finding->reason);
			if (finding->advice[0] != '\0')
				text_add_line(out, "  To do:  %s", finding->advice);
			text_add_line(out, "  Source: %s", finding->source);
		}
	}
}

cJSON *compat_answer_to_json(const struct compat_answer *answer)
{
	struct members json = members_new();
	member_string(&json, "verdict", verdicts[compat_answer_verdict(answer)].name);
	struct members findings = member_array(&json, "findings");
	for (size_t i = 0; i < answer->count; i++) {
		const struct compat_finding *finding = &answer->findings[i];
		struct members item = member_object(&findings, NULL);
		member_string(&item, "rule", finding->rule);
		member_string(&item, "verdict", verdicts[finding->verdict].name);
		member_string(&item, "reason", finding->reason);
		member_optional(&item, "advice", finding->advice);
		member_string(&item, "source", finding->source);
	}
	return members_take(&json);
}
