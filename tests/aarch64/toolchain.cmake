# SPDX-License-Identifier: MIT
#
# toolchain.cmake -- builds for aarch64 on another machine: Debian's cross
# compiler, and the libraries of SPROF_SYSROOT (tests/aarch64/run.sh makes it).
set(CMAKE_SYSTEM_NAME Linux)
set(CMAKE_SYSTEM_PROCESSOR aarch64)
set(CMAKE_C_COMPILER aarch64-linux-gnu-gcc)
set(CMAKE_CXX_COMPILER aarch64-linux-gnu-g++)
set(CMAKE_TRY_COMPILE_PLATFORM_VARIABLES SPROF_SYSROOT)
set(CMAKE_SYSROOT ${SPROF_SYSROOT})
set(CMAKE_LIBRARY_ARCHITECTURE aarch64-linux-gnu)
set(CMAKE_FIND_ROOT_PATH ${SPROF_SYSROOT})
set(CMAKE_FIND_ROOT_PATH_MODE_PROGRAM NEVER)
set(CMAKE_FIND_ROOT_PATH_MODE_LIBRARY ONLY)
set(CMAKE_FIND_ROOT_PATH_MODE_INCLUDE ONLY)
set(CMAKE_FIND_ROOT_PATH_MODE_PACKAGE ONLY)
set(ENV{PKG_CONFIG_SYSROOT_DIR} ${SPROF_SYSROOT})
set(ENV{PKG_CONFIG_LIBDIR}
  ${SPROF_SYSROOT}/usr/lib/aarch64-linux-gnu/pkgconfig:${SPROF_SYSROOT}/usr/share/pkgconfig)
