// SPDX-License-Identifier: MIT
/*
 * embed.c -- a program with an interpreter in it, and two sub-interpreters: by
 * turns on the main thread, then on a thread for each.
 *
 *     embed MODULE-PATH SECONDS
 *
 * runs cases.loop (cases.py, grow.py) in each of them.
 */
#define PY_SSIZE_T_CLEAN
#include <Python.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>

enum { COUNT = 2 };

static char code[4096];
static int failed;

static void
run_code(void)
{
    if (PyRun_SimpleString(code) != 0)
        failed = 1;
}

static void *
run_within(void *argument)
{
    PyThreadState *state = PyThreadState_New(argument);

    PyEval_RestoreThread(state);
    run_code();
    PyThreadState_Clear(state);
    PyThreadState_DeleteCurrent();
    return NULL;
}

/* Each sub-interpreter on this thread, in turn with the main one. */
static void
run_in_turns(PyThreadState *main_state, PyThreadState **within)
{
    for (int turn = 0; turn < 3 * COUNT; turn++) {
        PyThreadState_Swap(within[turn % COUNT]);
        run_code();
        PyThreadState_Swap(main_state);
        run_code();
    }
}

static void
run_on_threads(PyThreadState **within)
{
    pthread_t threads[COUNT];
    PyThreadState *saved = PyEval_SaveThread();

    for (int i = 0; i < COUNT; i++)
        pthread_create(&threads[i], NULL, run_within, within[i]->interp);
    for (int i = 0; i < COUNT; i++)
        pthread_join(threads[i], NULL);
    PyEval_RestoreThread(saved);
}

int
main(int argc, char **argv)
{
    PyThreadState *main_state, *within[COUNT];

    if (argc != 3)
        return 2;
    snprintf(code, sizeof code,
             "import sys; sys.path[:0] = '%s'.split(':')\n"
             "import cases; cases.loop(%f)\n",
             argv[1], atof(argv[2]) / 12);
    Py_Initialize();
    main_state = PyThreadState_Get();
    for (int i = 0; i < COUNT; i++)
        within[i] = Py_NewInterpreter();
    run_in_turns(main_state, within);
    run_on_threads(within);
    for (int i = 0; i < COUNT; i++) {
        PyThreadState_Swap(within[i]);
        Py_EndInterpreter(within[i]);
    }
    PyThreadState_Swap(main_state);
    if (Py_FinalizeEx() == 0 && !failed)
        puts("ok");
    return failed;
}
