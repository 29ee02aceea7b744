# SPDX-License-Identifier: MIT
# Compiled by Cython for cases.py: its functions have no Python frame.
def again(function, seconds):
    return twice(function, seconds / 2)


cdef twice(function, seconds):
    function(seconds)
    return function(seconds)
