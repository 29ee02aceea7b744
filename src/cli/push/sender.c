/* SPDX-License-Identifier: MIT */
/* sender.c -- see sender.h. Backoff is by server: when one request failed, the
 * others of that server wait, too. */
#include <curl/curl.h>
#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/text.h"
#include "cli/command.h"
#include "util/wire.h"
#include "sender.h"

/* AT_ONCE: requests under way for one server. ANSWER_MOST: bytes of an answer
 * that are kept. CONNECT_SECONDS, SECONDS: limits of a request. */
enum { AT_ONCE = 4, ANSWER_MOST = 4096, CONNECT_SECONDS = 10, SECONDS = 60 };

/* Bounds of the pause after a failure, and of what a server may ask for, in ns.
 */
static const uint64_t PAUSE_LEAST = NS_PER_SECOND / 2,
                      PAUSE_MOST = UINT64_C(120) * NS_PER_SECOND,
                      ASKED_MOST = UINT64_C(3600) * NS_PER_SECOND;

/* The certificates of authorities on Debian, Arch and Nix; on Fedora; on
 * openSUSE. libcurl knows the place on the system that built it alone, and a
 * wheel brings that libcurl to other systems. */
static const char *const authorities[] = {
    "/etc/ssl/certs/ca-certificates.crt",
    "/etc/pki/tls/certs/ca-bundle.crt",
    "/etc/ssl/ca-bundle.pem",
};

/* A request under way. */
struct transfer {
    struct target *target;
    CURL *easy;
    struct curl_slist *headers;
    uint64_t round;
    uint32_t number;
    char *body;
    char answer[ANSWER_MOST];
    size_t answer_size;
};

/* A server. */
struct target {
    const char *url;
    enum payload_kind kind;
    uint64_t not_before; /* ns of clock_now */
    unsigned failures;   /* one after the other */
    struct transfer transfers[AT_ONCE];
};

struct sender {
    struct backlog *backlog;
    const char *const *headers;
    const char *key;
    CURLM *multi;
    struct target targets[PAYLOAD_COUNT];
};

struct sender *
sender_new(struct backlog *backlog, const char *const urls[PAYLOAD_COUNT],
           const char *const *headers, const char *key)
{
    struct sender *sender = calloc(1, sizeof(*sender));
    if (sender == NULL)
        return NULL;
    curl_global_init(CURL_GLOBAL_DEFAULT);
    sender->backlog = backlog;
    sender->headers = headers;
    sender->key = key;
    sender->multi = curl_multi_init();
    for (unsigned i = 0; i < PAYLOAD_COUNT; i++)
        sender->targets[i] =
            (struct target){.url = urls[i], .kind = (enum payload_kind)i};
    if (sender->multi != NULL)
        return sender;
    free(sender);
    errno = ENOMEM;
    return NULL;
}

/* The item of TRANSFER, which may have moved; NULL if it is gone. */
static struct backlog_item *
item_of(const struct sender *sender, const struct transfer *transfer)
{
    for (size_t i = 0; i < sender->backlog->count; i++) {
        struct backlog_item *item = &sender->backlog->items[i];
        if (item->round == transfer->round && item->number == transfer->number)
            return item;
    }
    return NULL;
}

/* For curl: keep the begin of an answer. */
static size_t
take_answer(char *bytes, size_t size, size_t count, void *context)
{
    struct transfer *transfer = context;
    size_t length = size * count, room = ANSWER_MOST - transfer->answer_size;
    size_t part = length < room ? length : room;
    memcpy(transfer->answer + transfer->answer_size, bytes, part);
    transfer->answer_size += part;
    return length;
}

/* Append LINE to the headers of TRANSFER. */
static void
add_header(struct transfer *transfer, const char *line)
{
    struct curl_slist *longer = curl_slist_append(transfer->headers, line);
    if (longer != NULL)
        transfer->headers = longer;
}

static void
set_headers(const struct sender *sender, struct transfer *transfer)
{
    const struct payload_row *row = &payload_rows[transfer->target->kind];
    char line[256];
    snprintf(line, sizeof(line), "Content-Type: %s", row->type);
    add_header(transfer, line);
    if (row->encoding != NULL) {
        snprintf(line, sizeof(line), "Content-Encoding: %s", row->encoding);
        add_header(transfer, line);
    }
    snprintf(line, sizeof(line), "Idempotency-Key: %s-%" PRIx64 "-%u",
             sender->key, transfer->round, transfer->number);
    add_header(transfer, line);
    /* Without it curl waits for a word of the server before a large body. */
    add_header(transfer, "Expect:");
    for (const char *const *at = sender->headers; *at != NULL; at++)
        add_header(transfer, *at);
}

/* The file that SSL_CERT_FILE names, as for OpenSSL, or this system's. NULL:
 * libcurl's own. */
static const char *
authorities_file(void)
{
    const char *given = getenv("SSL_CERT_FILE");
    if (given != NULL && *given != '\0')
        return given;
    for (unsigned i = 0; i < sizeof(authorities) / sizeof(authorities[0]); i++)
        if (access(authorities[i], R_OK) == 0)
            return authorities[i];
    return NULL;
}

static void
set_options(const struct sender *sender, struct transfer *transfer,
            const struct backlog_item *item)
{
    CURL *easy = transfer->easy;
    const char *authorities_path = authorities_file();
    set_headers(sender, transfer);
    if (authorities_path != NULL)
        curl_easy_setopt(easy, CURLOPT_CAINFO, authorities_path);
    curl_easy_setopt(easy, CURLOPT_URL, transfer->target->url);
    curl_easy_setopt(easy, CURLOPT_POST, 1L);
    curl_easy_setopt(easy, CURLOPT_POSTFIELDS, transfer->body);
    curl_easy_setopt(easy, CURLOPT_POSTFIELDSIZE_LARGE, (curl_off_t)item->size);
    curl_easy_setopt(easy, CURLOPT_HTTPHEADER, transfer->headers);
    curl_easy_setopt(easy, CURLOPT_WRITEFUNCTION, take_answer);
    curl_easy_setopt(easy, CURLOPT_WRITEDATA, transfer);
    curl_easy_setopt(easy, CURLOPT_PRIVATE, transfer);
    curl_easy_setopt(easy, CURLOPT_NOSIGNAL, 1L);
    curl_easy_setopt(easy, CURLOPT_CONNECTTIMEOUT, (long)CONNECT_SECONDS);
    curl_easy_setopt(easy, CURLOPT_TIMEOUT, (long)SECONDS);
    curl_easy_setopt(easy, CURLOPT_USERAGENT, "libsprof/" SPROF_VERSION);
}

/* Release what TRANSFER holds; it is free for another request. */
static void
end_transfer(const struct sender *sender, struct transfer *transfer)
{
    if (transfer->easy != NULL) {
        curl_multi_remove_handle(sender->multi, transfer->easy);
        curl_easy_cleanup(transfer->easy);
    }
    curl_slist_free_all(transfer->headers);
    free(transfer->body);
    *transfer = (struct transfer){.target = transfer->target};
}

/* Send ITEM by TRANSFER. */
static void
begin_transfer(struct sender *sender, struct target *target,
               struct transfer *transfer, struct backlog_item *item)
{
    *transfer = (struct transfer){.target = target,
                                  .round = item->round,
                                  .number = item->number};
    transfer->body = backlog_read(sender->backlog, item);
    if (transfer->body == NULL && errno != ENOMEM) {
        command_fail("a request is gone from the backlog: %s", strerror(errno));
        backlog_remove(sender->backlog, item);
        return;
    }
    transfer->easy = transfer->body != NULL ? curl_easy_init() : NULL;
    if (transfer->easy == NULL) {
        end_transfer(sender, transfer);
        return;
    }
    set_options(sender, transfer, item);
    item->is_sent = true;
    curl_multi_add_handle(sender->multi, transfer->easy);
}

/* The oldest request for TARGET that is not under way; NULL if none waits.
 */
static struct backlog_item *
next_item(const struct sender *sender, const struct target *target)
{
    /* A request of a round that does not count yet is not sent. */
    for (size_t i = 0; i < sender->backlog->count; i++) {
        struct backlog_item *item = &sender->backlog->items[i];
        if (item->protocol == payload_rows[target->kind].letter &&
            !item->is_sent && item->round < sender->backlog->round)
            return item;
    }
    return NULL;
}

/* Begin as many requests as may be under way. After a failure one is tried. */
static void
begin_transfers(struct sender *sender, struct target *target)
{
    unsigned most = target->failures > 0 ? 1 : AT_ONCE, running = 0;
    if (target->url == NULL || clock_now() < target->not_before)
        return;
    for (unsigned i = 0; i < AT_ONCE; i++)
        running += target->transfers[i].easy != NULL;
    for (unsigned i = 0; i < AT_ONCE && running < most; i++) {
        struct backlog_item *item;
        if (target->transfers[i].easy != NULL)
            continue;
        item = next_item(sender, target);
        if (item == NULL)
            return;
        begin_transfer(sender, target, &target->transfers[i], item);
        running++;
    }
}

/* The pause after a failure in ns: between half and all of what doubles. */
static uint64_t
pause_after(unsigned failures)
{
    uint64_t pause = PAUSE_LEAST << (failures < 10 ? failures : 10);
    uint32_t chance = 0;
    if (pause > PAUSE_MOST)
        pause = PAUSE_MOST;
    (void)getrandom(&chance, sizeof(chance), 0);
    return pause / 2 + (pause / 2) * (chance % 1024) / 1024;
}

/* TARGET failed for REASON: wait before the next try. The first failure of a
 * row is reported. */
static void
back_off(struct target *target, CURL *easy, const char *reason)
{
    curl_off_t asked = 0;
    uint64_t pause = pause_after(target->failures);
    if (curl_easy_getinfo(easy, CURLINFO_RETRY_AFTER, &asked) == CURLE_OK &&
        asked > 0)
        pause = (uint64_t)asked * NS_PER_SECOND < ASKED_MOST
                    ? (uint64_t)asked * NS_PER_SECOND
                    : ASKED_MOST;
    if (target->failures++ == 0)
        command_fail("%s: %s; it will be tried again", target->url, reason);
    uint64_t until = clock_now() + pause;
    if (until > target->not_before)
        target->not_before = until;
}

/* Report the part of an accepted request that the server did not keep: field 1
 * of the answer is partial_success, and its field 1 counts the rejected
 * profiles. */
static void
report_rejected(const struct transfer *transfer)
{
    const uint8_t *bytes = (const uint8_t *)transfer->answer;
    struct wire answer = {bytes, bytes + transfer->answer_size, false};
    struct wire_field field, inner;
    if (transfer->target->kind != PAYLOAD_OTLP)
        return;
    while (wire_next(&answer, &field))
        while (field.number == 1 && field.type == WIRE_BYTES &&
               wire_next(&field.bytes, &inner))
            if (inner.number == 1 && inner.type == WIRE_NUMBER &&
                inner.value > 0)
                command_fail("%s: %" PRIu64 " profiles were rejected",
                             transfer->target->url, inner.value);
}

/* Report that a request was refused with STATUS, in the server's words. */
static void
report_refusal(struct transfer *transfer, long status)
{
    char text[256];
    snprintf(text, sizeof(text), "%.*s", (int)transfer->answer_size,
             transfer->answer);
    text_hide_controls(text);
    command_fail("%s: refused with status %ld, dropped: %s",
                 transfer->target->url, status, text);
}

/* The request of TRANSFER is done with RESULT. */
static void
finish_transfer(struct sender *sender, struct transfer *transfer,
                CURLcode result)
{
    struct target *target = transfer->target;
    struct backlog_item *item = item_of(sender, transfer);
    char reason[128];
    long status = 0;
    curl_easy_getinfo(transfer->easy, CURLINFO_RESPONSE_CODE, &status);
    bool is_taken = result == CURLE_OK && status >= 200 && status < 300;
    bool is_unsure =
        result != CURLE_OK || status == 408 || status == 429 || status >= 500;
    snprintf(reason, sizeof(reason), "status %ld", status);
    if (is_unsure)
        back_off(target, transfer->easy,
                 result != CURLE_OK ? curl_easy_strerror(result) : reason);
    else
        target->failures = 0;
    if (is_taken)
        report_rejected(transfer);
    else if (!is_unsure)
        report_refusal(transfer, status);
    if (item != NULL) {
        item->is_sent = false;
        if (!is_unsure)
            backlog_remove(sender->backlog, item);
    }
    end_transfer(sender, transfer);
}

void
sender_work(struct sender *sender, int ms, int fd)
{
    struct curl_waitfd more = {.fd = fd, .events = CURL_WAIT_POLLIN};
    int running = 0, left = 0;
    for (unsigned i = 0; i < PAYLOAD_COUNT; i++)
        begin_transfers(sender, &sender->targets[i]);
    curl_multi_perform(sender->multi, &running);
    CURLMsg *message;
    bool any = false;
    while ((message = curl_multi_info_read(sender->multi, &left)) != NULL) {
        char *transfer = NULL;
        if (message->msg != CURLMSG_DONE)
            continue;
        CURLcode result = message->data.result;
        curl_easy_getinfo(message->easy_handle, CURLINFO_PRIVATE, &transfer);
        finish_transfer(sender, (struct transfer *)(void *)transfer, result);
        any = true;
    }
    if (!any)
        curl_multi_poll(sender->multi, &more, fd >= 0, ms, NULL);
}

bool
sender_is_busy(const struct sender *sender)
{
    for (unsigned i = 0; i < PAYLOAD_COUNT; i++) {
        const struct target *target = &sender->targets[i];
        for (size_t j = 0; j < sender->backlog->count; j++)
            if (target->url != NULL && target->failures == 0 &&
                sender->backlog->items[j].protocol ==
                    payload_rows[target->kind].letter)
                return true;
    }
    return false;
}

void
sender_free(struct sender *sender)
{
    if (sender == NULL)
        return;
    for (unsigned i = 0; i < PAYLOAD_COUNT; i++)
        for (unsigned j = 0; j < AT_ONCE; j++)
            end_transfer(sender, &sender->targets[i].transfers[j]);
    curl_multi_cleanup(sender->multi);
    curl_global_cleanup();
    free(sender);
}
