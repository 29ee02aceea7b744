/* SPDX-License-Identifier: MIT */
/* loader_list_test.c -- whether a module that is loaded shows in the loader's
 * list at once. */
#include <dlfcn.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "process/loader_list.h"

static void
a_new_module_is_in_the_list(void **state)
{
    (void)state;
    assert_false(loader_list_has_grown()); /* nothing is noted yet */
    loader_list_note();
    assert_false(loader_list_has_grown());
    void *module = dlopen("libBrokenLocale.so.1", RTLD_NOW);
    if (module == NULL)
        skip();
    assert_true(loader_list_has_grown());
    loader_list_note();
    assert_false(loader_list_has_grown());
    dlclose(module);
}

int
main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_new_module_is_in_the_list),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
