/* SPDX-License-Identifier: MIT */
/*
 * words.c -- counts how often each word of a text occurs, with two threads that
 * share one table. It is slower than it has to be: docs/first-profile.md finds
 * out why.
 *
 *     cc -O2 -g -pthread -o words examples/words.c
 *     sprofile record -o words.sprof -- ./words
 */
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { THREADS = 2, WORDS = 400000, DIFFERENT = 20000, BUCKETS = 65536 };

struct entry {
    struct entry *next;
    unsigned count;
    char word[12];
};

static struct entry *buckets[BUCKETS];
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static char text[THREADS][WORDS][12];

static unsigned
hash(const char *word)
{
    unsigned hash = 0;
    for (; *word != '\0'; word++)
        hash += (unsigned char)*word;
    return hash % BUCKETS;
}

/* Returns the entry of WORD, a new one if there is none yet. */
static struct entry *
find(const char *word)
{
    struct entry **bucket = &buckets[hash(word)];
    for (struct entry *entry = *bucket; entry != NULL; entry = entry->next)
        if (strcmp(entry->word, word) == 0)
            return entry;
    struct entry *entry = calloc(1, sizeof(*entry));
    if (entry == NULL)
        exit(1);
    strcpy(entry->word, word);
    entry->next = *bucket;
    *bucket = entry;
    return entry;
}

static void *
count_words(void *part)
{
    char(*words)[12] = part;
    for (int i = 0; i < WORDS; i++) {
        pthread_mutex_lock(&lock);
        find(words[i])->count++;
        pthread_mutex_unlock(&lock);
    }
    return NULL;
}

static void
make_text(void)
{
    unsigned random = 1;
    for (int part = 0; part < THREADS; part++)
        for (int i = 0; i < WORDS; i++) {
            random = random * 1664525u + 1013904223u;
            snprintf(text[part][i], sizeof(text[part][i]), "word%05u",
                     (random >> 8) % DIFFERENT);
        }
}

int
main(void)
{
    pthread_t threads[THREADS];
    make_text();
    for (int i = 0; i < THREADS; i++)
        if (pthread_create(&threads[i], NULL, count_words, text[i]) != 0)
            return 1;
    for (int i = 0; i < THREADS; i++)
        pthread_join(threads[i], NULL);
    printf("word00042: %u times\n", find("word00042")->count);
    return 0;
}
