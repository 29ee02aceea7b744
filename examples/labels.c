/* SPDX-License-Identifier: MIT */
/*
 * labels.c -- which requests cost the most? Each has its label while it is
 * served. No library to link: cc -O2 -I include examples/labels.c -o shop
 *
 *   sprofile record -o shop.pb.gz ./shop
 *   sprofile report --by label:request shop.pb.gz
 *   sprofile report --label request=/search shop.pb.gz
 */
#include <stdio.h>

#include "sprof.h"

static volatile unsigned long sum;

static void
serve(const char *path, unsigned long work)
{
    int64_t scope = sprof_label_begin("request", path);

    for (unsigned long i = 0; i < work * 10000000; i++)
        sum += i;
    sprof_label_end(scope);
}

int
main(void)
{
    for (int i = 0; i < 20; i++) {
        serve("/search", 6);
        serve("/cart", 3);
        serve("/help", 1);
    }
    printf("60 requests, %s\n",
           sprof_is_running() ? "profiled" : "not profiled");
    return 0;
}
