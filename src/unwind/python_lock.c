/* SPDX-License-Identifier: MIT */
/*
 * python_lock.c -- see python_lock.h. Up to 3.13 a lock is a semaphore in
 * memory of its own, to which the object refers. So the stack is searched for
 * an object that refers to the futex. From 3.14 on the thread waits for a
 * semaphore on its own stack, which belongs to a record of what it waits for
 * (struct wait_entry of Python/parking_lot.c): the word before the semaphore is
 * the address of the lock, within the object.
 */
#include <stdbool.h>
#include <stddef.h>
#include <string.h>

#include "base/arch.h"
#include "base/clock.h"
#include "base/sys.h"
#include "python_lock.h"
#include "base/poison.h"

/* Words of the object: its type, the semaphore or the state of the lock, the
 * owner, and how often the owner has taken it (from 3.14 on: besides the first
 * time). They are at the same places in all versions. */
#define OBJECT_WORDS 5u
#define OBJECT_TYPE 1u
#define OBJECT_LOCK 2u
#define OBJECT_OWNER 3u
#define OBJECT_COUNT 4u

/* The bit of the lock's state that says that a thread has it (3.14). */
#define STATE_LOCKED 1u

/* The first version whose locks are not semaphores. */
#define MINOR_OF_STATES 14u

/* Where the name of a type is (tp_name of PyTypeObject, stable since 2.2). */
#define TYPE_NAME 24u

/* Words of the stack that are searched. The functions from the system call to
 * the interpreter's loop take some 600 bytes. */
#define STACK_WORDS 256u

/* For how long a futex counts as that of another kind of lock, in ns. */
#define OTHER_NS 1000000000u

/* Places for futexes that were looked at: a power of two. */
#define PLACES 64u

static struct place {
    uint64_t address; /* of the futex */
    uint64_t object;  /* 0: none was found */
    uint64_t time;    /* of that */
} places[PLACES];

void
python_lock_begin(void)
{
    memset(places, 0, sizeof(places));
}

/* Whether TYPE is that of locks with an owner. */
static bool
is_type(uint64_t type)
{
    static const char name[] = "_thread.RLock";
    char found[sizeof(name)];
    uint64_t address = sys_read_word(type + TYPE_NAME);
    return address != 0 && sys_copy_memory(found, address, sizeof(found)) &&
           memcmp(found, name, sizeof(name)) == 0;
}

/* The owner in the object WORDS; 0: it is no lock that tells it. ADDRESS is as
 * in python_lock_owner. */
static uint64_t
owner_in(const struct python *python, const uint64_t *words, uint64_t address)
{
    bool is_locked =
        python->layout.minor >= MINOR_OF_STATES
            ? (words[OBJECT_LOCK] & STATE_LOCKED) != 0
            : words[OBJECT_LOCK] == address && words[OBJECT_COUNT] != 0;
    return is_locked && is_type(words[OBJECT_TYPE]) ? words[OBJECT_OWNER] : 0;
}

/* The owner in the object at OBJECT. */
static uint64_t
owner_at(const struct python *python, uint64_t object, uint64_t address)
{
    uint64_t words[OBJECT_WORDS];
    return object != 0 && sys_copy_memory(words, object, sizeof(words))
               ? owner_in(python, words, address)
               : 0;
}

/* Whether WORD of the stack at SP may be the address of an object. */
static bool
may_be_object(uint64_t word, uint64_t sp)
{
    return (word & 7) == 0 && word >= 1u << 16 &&
           arch_data(word) >> ARCH_ADDRESS_BITS == 0 &&
           word - sp >= STACK_WORDS * 8u;
}

/* Find among the COUNT OBJECTS one that has an owner, which is put into *OWNER.
 * Returns 0 if there is none. */
static uint64_t
find_among(const struct python *python, uint64_t address,
           const uint64_t *objects, unsigned count, uint64_t *owner)
{
    uint64_t words[SYS_READS_MOST][OBJECT_WORDS];
    while (count > 0) {
        unsigned done =
            sys_read_memories(words, objects, count, sizeof(words[0]));
        for (unsigned i = 0; i < done; i++) {
            *owner = owner_in(python, words[i], address);
            if (*owner != 0)
                return objects[i];
        }
        /* The one after them cannot be read. */
        done += done < count;
        objects += done;
        count -= done;
    }
    return 0;
}

/* Search the stack at SP. */
static uint64_t
search_stack(const struct python *python, uint64_t address, uint64_t sp,
             uint64_t *owner)
{
    uint64_t stack[STACK_WORDS], objects[SYS_READS_MOST], object = 0;
    unsigned count = 0;
    if (!sys_copy_memory(stack, sp, sizeof(stack)))
        return 0;
    for (unsigned i = 0; i < STACK_WORDS && object == 0; i++) {
        if (may_be_object(stack[i], sp))
            objects[count++] = stack[i];
        if (count == SYS_READS_MOST || i == STACK_WORDS - 1) {
            object = find_among(python, address, objects, count, owner);
            count = 0;
        }
    }
    return object;
}

uint64_t
python_lock_owner(const struct python *python, uint64_t address, uint64_t sp)
{
    uint64_t now = clock_now(), owner = 0;
    if (python->layout.minor >= MINOR_OF_STATES)
        return owner_at(python, sys_read_word(address - 8) - 8u * OBJECT_LOCK,
                        address);
    struct place *place = &places[(address >> 4) % PLACES];
    if (place->address == address) {
        owner = owner_at(python, place->object, address);
        if (owner != 0 || now - place->time < OTHER_NS)
            return owner;
    }
    uint64_t object = search_stack(python, address, sp, &owner);
    *place = (struct place){address, object, now};
    return owner;
}
