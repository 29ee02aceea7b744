/* SPDX-License-Identifier: MIT */
#include "stack_cause.h"
#include "poison.h"

static const char *const words[] = {
#define CAUSE(name, word, text) word,
    STACK_CAUSE_TABLE(CAUSE)
#undef CAUSE
};

static const char *const texts[] = {
#define CAUSE(name, word, text) text,
    STACK_CAUSE_TABLE(CAUSE)
#undef CAUSE
};

const char *
stack_cause_word(unsigned cause)
{
    return cause < STACK_CAUSE_COUNT ? words[cause] : "unknown";
}

const char *
stack_cause_text(unsigned cause)
{
    return cause < STACK_CAUSE_COUNT ? texts[cause] : "";
}
