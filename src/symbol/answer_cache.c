/* SPDX-License-Identifier: MIT */
/*
 * answer_cache.c -- see answer_cache.h. One file for each build-id:
 *
 *   header | answers, sorted by address | frames | strings, each with its NUL
 *
 * A file appears whole, by rename(2). A checksum covers all after the header,
 * and every number is checked before use: a file that a crash has torn or that
 * was made by hand is ignored. Another report may replace a file between our
 * reading and our writing. Its new answers are then lost, and found again. All
 * files are opened relative to the directory, and no symbolic link is followed
 * there.
 */
#include <dirent.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/uio.h>
#include <unistd.h>
#include <zlib.h>

#include "util/array.h"
#include "util/intern.h"
#include "util/number.h"
#include "debug_server.h"
#include "elf_view.h"
#include "answer_cache.h"

#define MAGIC "sprofnam"
/* Version 1 had answers without lines where debug sections were not read. */
#define VERSION 2u

/* Limit of the size of a file, in bytes. A larger file gets no more answers. */
#define FILE_MOST (256u << 20)

/* Limit of the size of all files together, in bytes. */
#define ALL_MOST (512ll << 20)

/* Longest build-id in bytes. Those of linkers have 8 to 32. */
#define BUILD_ID_MOST 64u

struct header {
    char magic[8];
    uint32_t version, checksum; /* crc32 of all that follows the header */
    uint32_t flags;             /* enum symbolizer_flags */
    uint32_t answers, frames, strings; /* the last one in bytes */
};

/* Descriptor of the directory; NOT_OPENED, or NONE if it cannot be used. */
enum { NOT_OPENED = -2, NONE = -1 };
static int directory = NOT_OPENED;

/* Put the path of the directory into PATH. Returns false if no directory is
 * named. */
static bool
choose_path(char path[PATH_MAX])
{
    const char *set = getenv("SPROF_CACHE"), *base = getenv("XDG_CACHE_HOME");
    const char *home = getenv("HOME");
    if (set != NULL && strcmp(set, "off") == 0)
        return false;
    if (set != NULL && set[0] != '\0')
        return snprintf(path, PATH_MAX, "%s", set) < PATH_MAX;
    if (base != NULL && base[0] == '/')
        return snprintf(path, PATH_MAX, "%s/sprof", base) < PATH_MAX;
    if (home == NULL || home[0] != '/' ||
        snprintf(path, PATH_MAX, "%s/.cache/sprof", home) >= PATH_MAX)
        return false;
    /* ~/.cache is created, but not the home directory. */
    path[strlen(path) - strlen("/sprof")] = '\0';
    (void)mkdir(path, 0700);
    strcat(path, "/sprof");
    return true;
}

/* Whether FD is a directory of the effective user to which no other user can
 * write. */
static bool
is_safe(int fd)
{
    struct stat status;
    return fstat(fd, &status) == 0 && S_ISDIR(status.st_mode) &&
           status.st_uid == geteuid() && (status.st_mode & 022) == 0;
}

static int
open_directory(void)
{
    char path[PATH_MAX];
    if (!choose_path(path))
        return NONE;
    (void)mkdir(path, 0700);
    int fd = open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    if (fd >= 0 && is_safe(fd))
        return fd;
    if (fd >= 0)
        close(fd);
    return NONE;
}

/* Whether the directory for the files exists, or could be created. */
static bool
has_directory(void)
{
    if (directory == NOT_OPENED)
        directory = open_directory();
    return directory != NONE;
}

/* Read SIZE bytes of FD. */
static uint8_t *
read_bytes(int fd, size_t size)
{
    uint8_t *bytes = malloc(size + 1);
    size_t done = 0;
    while (bytes != NULL && done < size) {
        ssize_t part = read(fd, bytes + done, size - done);
        if (part <= 0) {
            free(bytes);
            return NULL;
        }
        done += (size_t)part;
    }
    return bytes;
}

/* Read the file NAME. Returns its bytes, to be freed, and *SIZE; or NULL. A
 * file that is read counts as used today. */
static uint8_t *
load_file(const char *name, size_t *size)
{
    struct stat status;
    uint8_t *bytes = NULL;
    int fd =
        openat(directory, name, O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK);
    if (fd < 0)
        return NULL;
    if (fstat(fd, &status) == 0 && S_ISREG(status.st_mode) &&
        status.st_uid == geteuid() && status.st_size <= FILE_MOST) {
        *size = (size_t)status.st_size;
        bytes = read_bytes(fd, *size);
        (void)futimens(fd, NULL);
    }
    close(fd);
    return bytes;
}

/* A file of the directory, and when it was used last. */
struct kept {
    struct timespec used;
    off_t size;
    char name[NAME_MAX + 1];
};

static int
compare_kept(const void *left, const void *right)
{
    const struct timespec *a = &((const struct kept *)left)->used;
    const struct timespec *b = &((const struct kept *)right)->used;
    if (a->tv_sec != b->tv_sec)
        return a->tv_sec < b->tv_sec ? -1 : 1;
    return (a->tv_nsec > b->tv_nsec) - (a->tv_nsec < b->tv_nsec);
}

/* List the files of the directory. Returns their number, and *ALL bytes. */
static size_t
list_files(struct kept **files, long long *all)
{
    size_t count = 0;
    struct stat status;
    struct dirent *entry;
    int fd = openat(directory, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    DIR *listing = fd >= 0 ? fdopendir(fd) : NULL;
    *files = NULL;
    *all = 0;
    while (listing != NULL && (entry = readdir(listing)) != NULL) {
        struct kept *room = array_room(*files, count, sizeof(**files));
        if (room == NULL)
            break;
        *files = room;
        if (fstatat(directory, entry->d_name, &status, AT_SYMLINK_NOFOLLOW) !=
                0 ||
            !S_ISREG(status.st_mode))
            continue;
        room[count].used = status.st_mtim;
        room[count].size = status.st_size;
        strcpy(room[count].name, entry->d_name);
        *all += status.st_size;
        count++;
    }
    if (listing != NULL)
        closedir(listing);
    return count;
}

/* Remove files until the rest takes less than three quarters of the limit. */
static void
remove_old(void)
{
    struct kept *files;
    long long all;
    size_t count = list_files(&files, &all);
    if (all > ALL_MOST) {
        qsort(files, count, sizeof(*files), compare_kept);
        for (size_t i = 0; i < count && all > ALL_MOST / 4 * 3; i++) {
            (void)unlinkat(directory, files[i].name, 0);
            all -= files[i].size;
        }
    }
    free(files);
}

/* Whether a file of all PARTS is within RLIMIT_FSIZE. Otherwise SIGXFSZ would
 * end this process (setrlimit(2)). */
static bool
is_within_limit(const struct iovec *parts, unsigned count)
{
    struct rlimit limit;
    size_t size = 0;
    for (unsigned i = 0; i < count; i++)
        size += parts[i].iov_len;
    return getrlimit(RLIMIT_FSIZE, &limit) == 0 && size <= limit.rlim_cur;
}

/* Write a file NAME of COUNT parts. It appears whole, or not at all. When all
 * files take too much, those unused for the longest time are removed. */
static void
save_file(const char *name, const struct iovec *parts, unsigned count)
{
    char beside[NAME_MAX + 1];
    if (!is_within_limit(parts, count))
        return;
    snprintf(beside, sizeof(beside), "%s.%ld", name, (long)getpid());
    (void)unlinkat(directory, beside, 0);
    int fd = openat(directory, beside,
                    O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC | O_NOFOLLOW, 0600);
    FILE *file = fd >= 0 ? fdopen(fd, "w") : NULL;
    bool is_whole = file != NULL;
    for (unsigned i = 0; i < count && is_whole; i++)
        is_whole = fwrite(parts[i].iov_base, 1, parts[i].iov_len, file) ==
                   parts[i].iov_len;
    if (file != NULL)
        is_whole &= fclose(file) == 0;
    else if (fd >= 0)
        close(fd);
    if (!is_whole || renameat(directory, beside, directory, name) != 0)
        (void)unlinkat(directory, beside, 0);
    remove_old();
}

/* Texts are offsets in the strings. 0 is NULL. */
struct answer {
    uint64_t address, start;
    uint32_t symbol, first; /* of its frames */
    uint32_t count, is_stub;
};
struct frame {
    uint32_t name, directory, file, line, start_line;
};

struct answer_cache {
    char name[2 * BUILD_ID_MOST + 8];
    uint8_t *bytes; /* the file; NULL: none */
    const struct header *header;
    const struct answer *answers;
    const struct frame *frames;
    const char *strings;
    unsigned flags;
    /* The added answers. OFFSETS are those of TEXTS, which take SIZE bytes. */
    struct answer *new_answers;
    struct frame *new_frames;
    size_t new_count, new_frame_count;
    struct intern texts;
    uint32_t *offsets, size;
};

/* Whether TEXT, an offset in the strings, is within them. They end in a NUL. */
static bool
is_text(const struct header *header, uint32_t text)
{
    return text < header->strings;
}

static bool
are_frames_right(const struct answer_cache *cache)
{
    const struct header *header = cache->header;
    for (uint32_t i = 0; i < header->frames; i++)
        if (!is_text(header, cache->frames[i].name) ||
            !is_text(header, cache->frames[i].directory) ||
            !is_text(header, cache->frames[i].file))
            return false;
    return true;
}

static bool
are_answers_right(const struct answer_cache *cache)
{
    const struct header *header = cache->header;
    for (uint32_t i = 0; i < header->answers; i++) {
        const struct answer *answer = &cache->answers[i];
        if (!is_text(header, answer->symbol) ||
            answer->first > header->frames ||
            answer->count > header->frames - answer->first ||
            (i > 0 && answer->address <= answer[-1].address))
            return false;
    }
    return true;
}

/* Whether the SIZE bytes of CACHE are a file that can be used. */
static bool
is_right(struct answer_cache *cache, size_t size)
{
    const struct header *header = (const void *)cache->bytes;
    if (size < sizeof(*header) || memcmp(header->magic, MAGIC, 8) != 0 ||
        header->version != VERSION || header->strings == 0 ||
        size != sizeof(*header) + header->answers * sizeof(struct answer) +
                    header->frames * sizeof(struct frame) + header->strings ||
        crc32_z(0, cache->bytes + sizeof(*header), size - sizeof(*header)) !=
            header->checksum ||
        cache->bytes[size - 1] != '\0')
        return false;
    cache->header = header;
    cache->answers = (const void *)(header + 1);
    cache->frames = (const void *)(cache->answers + header->answers);
    cache->strings = (const void *)(cache->frames + header->frames);
    cache->flags = header->flags;
    return are_answers_right(cache) && are_frames_right(cache);
}

/* Whether the file may have better answers now: it had no lines, but a debug
 * file was installed, or servers can be asked. */
static bool
is_better_known(const struct answer_cache *cache)
{
    char path[sizeof(cache->name) + 64];
    if ((cache->flags & SYMBOLIZER_LINES) != 0)
        return false;
    int digits = (int)(strchr(cache->name, '.') - cache->name);
    snprintf(path, sizeof(path), "/usr/lib/debug/.build-id/%.2s/%.*s.debug",
             cache->name, digits - 2, cache->name + 2);
    char text[PATH_MAX];
    return debug_server_is_there() ||
           access(elf_view_place(path, text), F_OK) == 0;
}

static void
read_file(struct answer_cache *cache)
{
    size_t size;
    cache->bytes = load_file(cache->name, &size);
    if (cache->bytes != NULL && is_right(cache, size) &&
        !is_better_known(cache))
        return;
    free(cache->bytes);
    cache->bytes = NULL;
    cache->header = NULL;
}

struct answer_cache *
answer_cache_open(const uint8_t *build_id, size_t length)
{
    if (length == 0 || length > BUILD_ID_MOST || !has_directory())
        return NULL;
    struct answer_cache *cache = calloc(1, sizeof(*cache));
    if (cache == NULL)
        return NULL;
    number_hexadecimal(build_id, length, cache->name);
    strcat(cache->name, ".names");
    read_file(cache);
    return cache;
}

static int
compare_answers(const void *left, const void *right)
{
    const struct answer *a = left, *b = right;
    return (a->address > b->address) - (a->address < b->address);
}

static const char *
text_at(const struct answer_cache *cache, uint32_t text)
{
    return text != 0 ? cache->strings + text : NULL;
}

bool
answer_cache_find(const struct answer_cache *cache, uint64_t address,
                  struct image_answer *to, unsigned limit)
{
    const struct answer key = {.address = address};
    const struct answer *answer =
        cache->header != NULL
            ? bsearch(&key, cache->answers, cache->header->answers, sizeof(key),
                      compare_answers)
            : NULL;
    if (answer == NULL || answer->count > limit)
        return false;
    to->symbol = text_at(cache, answer->symbol);
    to->is_stub = answer->is_stub != 0;
    to->start = answer->start;
    to->count = answer->count;
    for (uint32_t i = 0; i < answer->count; i++) {
        const struct frame *frame = &cache->frames[answer->first + i];
        to->frames[i] =
            (struct unit_frame){.name = text_at(cache, frame->name),
                                .directory = text_at(cache, frame->directory),
                                .file = text_at(cache, frame->file),
                                .line = frame->line,
                                .start_line = frame->start_line};
    }
    return true;
}

/* The offset of TEXT (may be NULL) among the texts that were added. They begin
 * with the offset 1. 0 if memory is short. */
static uint32_t
add_text(struct answer_cache *cache, const char *text)
{
    uint32_t count = intern_count(&cache->texts);
    if (text == NULL || !ARRAY_GROW(cache->offsets, count))
        return 0;
    uint32_t number = intern_string(&cache->texts, text);
    if (number == INTERN_NONE)
        return 0;
    if (number == count) {
        cache->offsets[count] = cache->size + 1;
        cache->size += (uint32_t)strlen(text) + 1;
    }
    return cache->offsets[number];
}

void
answer_cache_add(struct answer_cache *cache, unsigned flags, uint64_t address,
                 const struct image_answer *answer)
{
    struct answer *answers =
        array_room(cache->new_answers, cache->new_count, sizeof(*answers));
    if (answers == NULL)
        return;
    cache->new_answers = answers;
    answers[cache->new_count] =
        (struct answer){.address = address,
                        .start = answer->start,
                        .symbol = add_text(cache, answer->symbol),
                        .first = (uint32_t)cache->new_frame_count,
                        .count = answer->count,
                        .is_stub = answer->is_stub};
    for (unsigned i = 0; i < answer->count; i++) {
        const struct unit_frame *frame = &answer->frames[i];
        struct frame *frames =
            array_room(cache->new_frames, cache->new_frame_count,
                       sizeof(*frames));
        if (frames == NULL)
            return;
        cache->new_frames = frames;
        frames[cache->new_frame_count++] =
            (struct frame){.name = add_text(cache, frame->name),
                           .directory = add_text(cache, frame->directory),
                           .file = add_text(cache, frame->file),
                           .line = frame->line,
                           .start_line = frame->start_line};
    }
    cache->new_count++;
    cache->flags = flags;
}

unsigned
answer_cache_flags(const struct answer_cache *cache)
{
    return cache->flags;
}

/* Add the answers of the file, so that a new file has all. If memory is short,
 * it has only the new answers. */
static void
add_old(struct answer_cache *cache)
{
    uint32_t count = cache->header != NULL ? cache->header->answers : 0;
    struct unit_frame *frames =
        calloc((count != 0 ? cache->header->frames : 0) + 1, sizeof(*frames));
    struct image_answer answer = {.frames = frames};
    for (uint32_t i = 0; frames != NULL && i < count; i++) {
        uint64_t address = cache->answers[i].address;
        if (answer_cache_find(cache, address, &answer, UINT32_MAX))
            answer_cache_add(cache, cache->flags, address, &answer);
    }
    free(frames);
}

/* An empty text and then the texts, in SIZE + 1 bytes. NULL if memory is
 * short. */
static char *
join_texts(const struct answer_cache *cache)
{
    char *strings = calloc(cache->size + 1ul, 1);
    uint32_t count = intern_count(&cache->texts);
    for (uint32_t i = 0; strings != NULL && i < count; i++)
        strcpy(strings + cache->offsets[i], intern_bytes(&cache->texts, i));
    return strings;
}

/* Sort the answers. One address may have been looked up twice. */
static void
sort_answers(struct answer_cache *cache)
{
    struct answer *answers = cache->new_answers;
    size_t kept = 0;
    qsort(answers, cache->new_count, sizeof(*answers), compare_answers);
    for (size_t i = 0; i < cache->new_count; i++)
        if (kept == 0 || answers[kept - 1].address != answers[i].address)
            answers[kept++] = answers[i];
    cache->new_count = kept;
}

static void
write_file(struct answer_cache *cache)
{
    sort_answers(cache);
    struct header header = {.version = VERSION,
                            .flags = cache->flags,
                            .answers = (uint32_t)cache->new_count,
                            .frames = (uint32_t)cache->new_frame_count,
                            .strings = cache->size + 1};
    char *strings = join_texts(cache);
    if (strings == NULL)
        return;
    const struct iovec parts[] = {
        {&header, sizeof(header)},
        {cache->new_answers, cache->new_count * sizeof(*cache->new_answers)},
        {cache->new_frames,
         cache->new_frame_count * sizeof(*cache->new_frames)},
        {strings, header.strings}};
    memcpy(header.magic, MAGIC, sizeof(header.magic));
    uLong sum = 0;
    for (unsigned i = 1; i < sizeof(parts) / sizeof(parts[0]); i++)
        sum = crc32_z(sum, parts[i].iov_base, parts[i].iov_len);
    header.checksum = (uint32_t)sum;
    save_file(cache->name, parts, sizeof(parts) / sizeof(parts[0]));
    free(strings);
}

void
answer_cache_close(struct answer_cache *cache)
{
    if (cache == NULL)
        return;
    if (cache->new_count != 0) {
        add_old(cache);
        write_file(cache);
    }
    intern_clear(&cache->texts);
    free(cache->offsets);
    free(cache->new_answers);
    free(cache->new_frames);
    free(cache->bytes);
    free(cache);
}
