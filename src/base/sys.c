/* SPDX-License-Identifier: MIT */
/*
 * sys.c -- raw system calls, any context (handlers and the sampler included).
 * Nothing here allocates through libc or locks, and nothing sets errno.
 */
#include <linux/errno.h>
#include <fcntl.h>
#include <linux/futex.h>
#include <linux/nsfs.h>
#include <stdatomic.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <unistd.h>

#include "clock.h"
#include "sys.h"
#include "poison.h"

#define SYSTEM_CALL(result, name, parameters, ...) \
    result name parameters                         \
    {                                              \
        return (result)sys_call(__VA_ARGS__);      \
    }

SYSTEM_CALL(long, sys_futex_wake, (_Atomic uint32_t *word, int count),
            SYS_futex, word, FUTEX_WAKE_PRIVATE, count)
SYSTEM_CALL(long, sys_kill, (pid_t pid, int signo), SYS_kill, pid, signo)
SYSTEM_CALL(long, sys_mask, (int how, uint64_t set, uint64_t *old),
            SYS_rt_sigprocmask, how, &set, old, sizeof(set))
SYSTEM_CALL(long, sys_get_action, (int signo, struct sys_action *action),
            SYS_rt_sigaction, signo, 0, action, sizeof(action->mask))
SYSTEM_CALL(long, sys_set_action, (int signo, const struct sys_action *action),
            SYS_rt_sigaction, signo, action, 0, sizeof(action->mask))
SYSTEM_CALL(pid_t, sys_getpid, (void), SYS_getpid)
SYSTEM_CALL(pid_t, sys_gettid, (void), SYS_gettid)
SYSTEM_CALL(uid_t, sys_geteuid, (void), SYS_geteuid)
SYSTEM_CALL(long, sys_getdents, (int fd, void *buffer, size_t size),
            SYS_getdents64, fd, buffer, size)
SYSTEM_CALL(long, sys_open, (const char *path, int flags), SYS_openat, AT_FDCWD,
            path, flags | O_CLOEXEC)
SYSTEM_CALL(long, sys_read, (int fd, void *buffer, size_t size), SYS_read, fd,
            buffer, size)
SYSTEM_CALL(long, sys_read_at,
            (int fd, void *buffer, size_t size, uint64_t offset), SYS_pread64,
            fd, buffer, size, offset)
SYSTEM_CALL(long, sys_stat, (const char *path, struct stat *status),
            SYS_newfstatat, AT_FDCWD, path, status)
SYSTEM_CALL(long, sys_seek, (int fd, uint64_t offset), SYS_lseek, fd, offset,
            SEEK_SET)

long
sys_futex_wait(_Atomic uint32_t *word, uint32_t value, uint64_t until)
{
    struct timespec at = clock_timespec(until);
    return sys_call(SYS_futex, word, FUTEX_WAIT_BITSET | FUTEX_PRIVATE_FLAG,
                    value, &at, 0, FUTEX_BITSET_MATCH_ANY);
}

long
sys_queue_signal(pid_t pid, pid_t tid, int signo, int code, uint64_t value)
{
    siginfo_t info = {0};
    info.si_signo = signo;
    info.si_code = code;
    info.si_pid = pid;
    info.si_value.sival_ptr = (void *)value;
    return sys_call(SYS_rt_tgsigqueueinfo, pid, tid, signo, &info);
}

/* Set by sys_believe_sets. */
static _Atomic bool believes_sets;

/* Set once process_vm_readv has been refused, by a seccomp filter say. */
static _Atomic int read_by_file;

static long
read_memory_file(void *to, uint64_t address, size_t length)
{
    long fd = sys_open("/proc/thread-self/mem", O_RDONLY);
    if (fd < 0)
        return fd;
    long got = sys_read_at((int)fd, to, length, address);
    sys_close((int)fd);
    return got;
}

long
sys_read_memory(void *to, uint64_t address, size_t length)
{
    if (atomic_load_explicit(&read_by_file, memory_order_relaxed))
        return read_memory_file(to, address, length);
    struct iovec local = {to, length};
    struct iovec remote = {(void *)address, length};
    long got =
        sys_call(SYS_process_vm_readv, sys_gettid(), &local, 1, &remote, 1);
    if (got != -EPERM && got != -ENOSYS)
        return got;
    atomic_store_explicit(&read_by_file, 1, memory_order_relaxed);
    return read_memory_file(to, address, length);
}

uint64_t
sys_read_word(uint64_t address)
{
    uint64_t word;
    return address != 0 && sys_copy_memory(&word, address, sizeof(word)) ? word
                                                                         : 0;
}

unsigned
sys_read_memories(void *to, const uint64_t *addresses, unsigned count,
                  size_t size)
{
    struct iovec local = {to, count * size}, remote[SYS_READS_MOST];
    if (atomic_load_explicit(&read_by_file, memory_order_relaxed))
        return 0;
    for (unsigned i = 0; i < count; i++)
        remote[i] = (struct iovec){(void *)addresses[i], size};
    long got =
        sys_call(SYS_process_vm_readv, sys_gettid(), &local, 1, remote, count);
    return got > 0 ? (unsigned)((size_t)got / size) : 0;
}

/* Limit of the pages in one question to the kernel. */
#define PAGES 32u

/* How many of COUNT pages from START on are in memory without a gap. Where a
 * page is not mapped, the kernel returns an error, and the answers for the
 * pages before it (mm/mincore.c). */
static size_t
count_present(uint64_t start, size_t count)
{
    unsigned char pages[PAGES] = {0};
    size_t present = 0;
    long result =
        sys_call(SYS_mincore, start, (count * arch_page_size()), pages);
    if (result != 0 && result != -ENOMEM)
        return count;
    while (present < count && (pages[present] & 1) != 0)
        present++;
    return present;
}

bool
sys_is_mapped(uint64_t address)
{
    unsigned char page;
    uint64_t start = address & ~(arch_page_size() - 1);
    return sys_call(SYS_mincore, start, 1, &page) != -ENOMEM;
}

size_t
sys_present(uint64_t address, size_t length)
{
    const uint64_t size = arch_page_size();
    uint64_t start = address & ~(size - 1), end = address + length;
    while (start < end) {
        size_t count = (end - start + size - 1) / size;
        count = count < PAGES ? count : PAGES;
        size_t present = count_present(start, count);
        start += present * size;
        if (present < count)
            break;
    }
    if (start <= address)
        return 0;
    return start < end ? start - address : length;
}

long
sys_read_present(void *to, uint64_t address, size_t length)
{
    return sys_present(address, length) == length
               ? sys_read_memory(to, address, length)
               : -EFAULT;
}

/* No valid way to change a mask: the kernel reads the set, and returns
 * EINVAL. */
#define NO_CHANGE (-1)
#define SET_SIZE sizeof(uint64_t)

/* An address at which nothing is mapped. */
#define NO_ADDRESS 8u

static bool
can_read_word(uint64_t address)
{
    return sys_call(SYS_rt_sigprocmask, NO_CHANGE, address, 0, SET_SIZE) ==
           -EINVAL;
}

/* Whether the kernel checks addresses that it gets. */
static bool
is_kernel_sure(void)
{
    enum { UNKNOWN, SURE, UNSURE };
    static _Atomic int answer;
    int known = atomic_load_explicit(&answer, memory_order_relaxed);
    if (known == UNKNOWN) {
        known = can_read_word(NO_ADDRESS) ? UNSURE : SURE;
        atomic_store_explicit(&answer, known, memory_order_relaxed);
    }
    return known == SURE;
}

bool
sys_can_load(uint64_t address)
{
    return is_kernel_sure() && can_read_word(address);
}

void
sys_believe_sets(void)
{
    atomic_store(&believes_sets, true);
}

bool
sys_can_read_set(const void *address)
{
    if (address == NULL || atomic_load(&believes_sets))
        return address != NULL;
    return sys_call(SYS_rt_sigprocmask, NO_CHANGE, address, 0, SET_SIZE) !=
           -EFAULT;
}

bool
sys_can_write_set(void *address)
{
    if (atomic_load(&believes_sets))
        return address != NULL;
    return sys_call(SYS_rt_sigprocmask, 0, 0, address, SET_SIZE) != -EFAULT;
}

void
sys_close(int fd)
{
    (void)sys_call(SYS_close, fd);
}

long
sys_read_file_at(int directory, const char *path, char *buffer, size_t size)
{
    long fd = sys_call(SYS_openat, directory, path, O_RDONLY | O_CLOEXEC);
    if (fd < 0)
        return fd;
    long length = sys_read((int)fd, buffer, size - 1);
    sys_close((int)fd);
    buffer[length > 0 ? length : 0] = '\0';
    return length;
}

long
sys_read_file(const char *path, char *buffer, size_t size)
{
    return sys_read_file_at(AT_FDCWD, path, buffer, size);
}

long
sys_count_links(int fd)
{
    struct stat status;
    long result = sys_call(SYS_fstat, fd, &status);
    return result == 0 ? (long)status.st_nlink : result;
}

long
sys_namespace_type(int fd)
{
    long type = sys_call(SYS_ioctl, fd, NS_GET_NSTYPE);
    return type > 0 ? type : 0;
}

long
sys_read_link_at(int directory, const char *path, char *buffer, size_t size)
{
    long length = sys_call(SYS_readlinkat, directory, path, buffer, size - 1);
    buffer[length > 0 ? length : 0] = '\0';
    return length;
}

/* Distance in bytes by which our memory lies below this library. It is within
 * what sanitizers take for the program's memory (47 bits, their uppermost 1.5
 * TiB), and below what programs reach. */
#define AWAY (64ull << 30)

/* Memory is handed out in units: the largest page of any machine, in bytes. */
#define UNIT (64ull << 10)

/* Least bytes of the first range, and of each further one. On a machine with
 * few CPUs a process needs some 260 MiB, as long as no table grows. */
#define FIRST_SIZE (288ull << 20)
#define MORE_SIZE (64ull << 20)

/* Number of ranges. */
#define RANGES 32u

/* A range of addresses for this library alone. Unused memory there cannot be
 * accessed. The first units hold this struct. */
struct range {
    uint64_t units;
    _Atomic bool is_taken[];
};
static _Atomic(struct range *) ranges[RANGES];

/* Map addresses that cannot be accessed. A core file leaves them out, also when
 * they are in use. Huge pages would take megabytes of memory for each word. */
static long
bar(uint64_t at, uint64_t size, int flags)
{
    long start =
        sys_call(SYS_mmap, at, size, PROT_NONE,
                 flags | MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    (void)sys_call(SYS_madvise, start, size, MADV_DONTDUMP);
    (void)sys_call(SYS_madvise, start, size, MADV_NOHUGEPAGE);
    return start;
}

static long
unbar(uint64_t at, uint64_t size)
{
    return sys_call(SYS_mprotect, at, size, PROT_READ | PROT_WRITE);
}

static bool
is_error(long result)
{
    return result < 0 && result > -4096;
}

static uint64_t
units_of(uint64_t size)
{
    return (size + UNIT - 1) / UNIT;
}

static uint64_t
start_of(const struct range *range)
{
    return (uint64_t)(uintptr_t)range;
}

/* Take COUNT units from FIRST on, unless another thread has one. */
static bool
take(struct range *range, uint64_t first, uint64_t count)
{
    for (uint64_t i = 0; i < count; i++)
        if (atomic_exchange(&range->is_taken[first + i], true)) {
            while (i-- > 0)
                atomic_store(&range->is_taken[first + i], false);
            return false;
        }
    return true;
}

/* Take COUNT neighbours, the lowest that are free, or the highest. Returns the
 * first one, or 0. */
static uint64_t
find_units(struct range *range, uint64_t count, bool is_high)
{
    uint64_t run = 0;
    for (uint64_t i = 1; i < range->units; i++) {
        uint64_t at = is_high ? range->units - i : i;
        run = atomic_load(&range->is_taken[at]) ? 0 : run + 1;
        uint64_t first = is_high ? at : at + 1 - count;
        if (run >= count && take(range, first, count))
            return first;
    }
    return 0;
}

/* Where the next range should lie, below the last one; 0 if anywhere. */
static uint64_t
place_for(unsigned i, uint64_t size)
{
    uint64_t away = i > 0 ? 0 : AWAY;
    uint64_t above =
        i > 0 ? start_of(ranges[i - 1]) : (uint64_t)(uintptr_t)&ranges;
    return above > away + size ? (above - away - size) & ~(UNIT - 1) : 0;
}

/* Reserve range I, with room for COUNT units. Another thread may do so, too:
 * then one of the two ranges is given back. */
static struct range *
reserve_range(unsigned i, uint64_t count)
{
    struct range *none = NULL;
    uint64_t units = (i == 0 ? FIRST_SIZE : MORE_SIZE) / UNIT;
    uint64_t head = units_of(sizeof(*none) + units + count);
    units = units > head + count ? units : head + count;
    uint64_t size = units * UNIT;
    long start = bar(place_for(i, size), size, 0);
    if (is_error(start))
        return NULL;
    struct range *range = (struct range *)start;
    if (unbar((uint64_t)start, head * UNIT) != 0) {
        (void)sys_call(SYS_munmap, start, size);
        return NULL;
    }
    range->units = units;
    for (uint64_t unit = 0; unit < head; unit++)
        range->is_taken[unit] = true;
    if (atomic_compare_exchange_strong(&ranges[i], &none, range))
        return range;
    (void)sys_call(SYS_munmap, start, size);
    return none;
}

/* Take COUNT units of any range. Returns their address, or 0. Memory that is
 * empty in a forked child lies at the upper end: the kernel puts neighbours of
 * one kind into one mapping. */
static uint64_t
take_anywhere(uint64_t count, bool is_high)
{
    for (unsigned i = 0; i < RANGES; i++) {
        struct range *range = atomic_load(&ranges[i]);
        if (range == NULL)
            range = reserve_range(i, count);
        if (range == NULL)
            return 0;
        uint64_t first = find_units(range, count, is_high);
        if (first != 0)
            return start_of(range) + first * UNIT;
    }
    return 0;
}

static struct range *
range_at(uint64_t address)
{
    for (unsigned i = 0; i < RANGES; i++) {
        struct range *range = atomic_load(&ranges[i]);
        if (range != NULL && address - start_of(range) < range->units * UNIT)
            return range;
    }
    return NULL;
}

/* Free the COUNT units at address AT. */
static void
give_back(uint64_t at, uint64_t count)
{
    struct range *range = range_at(at);
    uint64_t first = (at - start_of(range)) / UNIT;
    for (uint64_t i = 0; i < count; i++)
        atomic_store(&range->is_taken[first + i], false);
}

/* The kernel may have refused this after the old mapping was removed. The
 * program may fill that hole, so the units stay taken. */
long
sys_map(size_t size, int access, int flags, int fd, uint64_t offset)
{
    uint64_t at = take_anywhere(units_of(size), false);
    return at != 0 ? sys_call(SYS_mmap, at, size, access, flags | MAP_FIXED, fd,
                              offset)
                   : -ENOMEM;
}

static void *
reserve(size_t size, bool is_high)
{
    uint64_t count = units_of(size), at = take_anywhere(count, is_high);
    if (at == 0 || unbar(at, count * UNIT) == 0)
        return (void *)at;
    give_back(at, count);
    return NULL;
}

/* Linux before 4.14 does not know the advice. A child then inherits the memory,
 * and its users empty what they must not find. */
void *
sys_reserve_for_one(size_t size)
{
    void *memory = reserve(size, true);
    if (memory != NULL)
        sys_call(SYS_madvise, memory, units_of(size) * UNIT, MADV_WIPEONFORK);
    return memory;
}

void *
sys_reserve(size_t size)
{
    return reserve(size, false);
}

void *
sys_reserve_present(size_t size)
{
    void *memory = sys_reserve_for_one(size);
    if (memory != NULL)
        sys_populate(memory, size);
    return memory;
}

void
sys_populate(void *memory, size_t size)
{
    sys_call(SYS_madvise, memory, size, MADV_POPULATE_WRITE);
}

void *
sys_reserve_stack(size_t size)
{
    const size_t guard = arch_page_size();
    char *memory = sys_reserve(guard + size);
    if (memory == NULL)
        return NULL;
    (void)sys_call(SYS_mprotect, memory, guard, PROT_NONE);
    return memory + guard;
}

void
sys_release(void *memory, size_t size)
{
    uint64_t at = (uint64_t)(uintptr_t)memory, count = units_of(size);
    if (range_at(at) != NULL && bar(at, count * UNIT, MAP_FIXED) == (long)at)
        give_back(at, count);
}

/* Locked memory (mlockall(2)) cannot be given back. */
void *
sys_renew(void *memory, size_t size)
{
    if (memory == NULL)
        return sys_reserve_for_one(size);
    if (sys_call(SYS_madvise, memory, size, MADV_DONTNEED) != 0)
        memset(memory, 0, size);
    return memory;
}
