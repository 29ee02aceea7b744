/* SPDX-License-Identifier: MIT */
/* paint.c -- the eight colours that every terminal has, and the limits of perf
 * report: hot from 5 %, warm from 0.5 %. */
#include "paint.h"

const struct paint paint_none = {"", "", "", "", "", "", {"", ""}};

const struct paint paint_terminal = {
    .title = "\033[1m",
    .hot = "\033[31m",
    .warm = "\033[32m",
    .alert = "\033[31m",
    .faint = "\033[2m",
    .end = "\033[0m",
    .cells = {"\033[30;43m", "\033[30;41m"},
};

const char *
paint_share(const struct paint *paint, double percent)
{
    if (percent >= 5)
        return paint->hot;
    return percent >= 0.5 ? paint->warm : "";
}
