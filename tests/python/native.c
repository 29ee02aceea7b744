// SPDX-License-Identifier: MIT
/*
 * native.c -- the native functions that Python programs of known stacks call.
 * Each is called from one line of one Python function, so a stack that has it
 * says by itself whether it lies between the right Python functions:
 *
 *     burn_N(units)       computes
 *     enter_N(callback)   calls a C function pointer that ctypes made
 *     through_N(callable) calls a Python object as an extension module does
 *
 * The interpreter that loads the library has PyObject_CallObject.
 */
typedef struct object object;

object *PyObject_CallObject(object *callable, object *arguments);

static volatile unsigned long sink;

static void
compute(long units)
{
    unsigned long value = (unsigned long)units;

    for (long i = 0; i < units * 64; i++)
        value = value * 6364136223846793005UL + 1442695040888963407UL;
    sink = value;
}

/* The work after the call keeps it from becoming a jump. */
#define FUNCTIONS(number)                                                 \
    __attribute__((visibility("default"), noinline)) void burn_##number(  \
        long units)                                                       \
    {                                                                     \
        compute(units);                                                   \
        sink += (number);                                                 \
    }                                                                     \
    __attribute__((visibility("default"), noinline)) void enter_##number( \
        void (*callback)(void))                                           \
    {                                                                     \
        callback();                                                       \
        sink += (number);                                                 \
    }                                                                     \
    __attribute__((visibility("default"), noinline))                      \
    object *through_##number(object *callable)                            \
    {                                                                     \
        object *result = PyObject_CallObject(callable, (object *)0);      \
                                                                          \
        sink += (number);                                                 \
        return result;                                                    \
    }

#define EIGHT(tens)    \
    FUNCTIONS(tens##0) \
    FUNCTIONS(tens##1) \
    FUNCTIONS(tens##2) \
    FUNCTIONS(tens##3) \
    FUNCTIONS(tens##4) \
    FUNCTIONS(tens##5) \
    FUNCTIONS(tens##6) \
    FUNCTIONS(tens##7)

/* burn_10 to burn_17, burn_20 to burn_27, and so on up to 87. */
EIGHT(1)
EIGHT(2)
EIGHT(3)
EIGHT(4)
EIGHT(5)
EIGHT(6)
EIGHT(7)
EIGHT(8)
