# SPDX-License-Identifier: MIT
#
# package.cmake -- what `cmake --install` and CPack put where, and the targets
# `dist` (the source as an archive) and `wheel` (for pip). docs/packages.md tells
# how they are used.
include(CMakePackageConfigHelpers)

# All that is installed. Its files are built without the tests.
add_custom_target(installed DEPENDS sprof sprofile sprof-report)

install(TARGETS sprof sprofile)
# A program, which libsprof.so looks for beside itself.
install(TARGETS sprof-report RUNTIME DESTINATION ${CMAKE_INSTALL_LIBDIR})
install(FILES ${CMAKE_SOURCE_DIR}/include/sprof.h TYPE INCLUDE)

# compressed(FILE DESTINATION): as Debian's policy has it for manual pages (12.1)
# and the changelog (12.7), without the time at which that was done.
find_program(GZIP gzip REQUIRED)
function(compressed from destination)
  get_filename_component(name ${from} NAME)
  set(made ${CMAKE_BINARY_DIR}/man/${name}.gz)
  add_custom_command(OUTPUT ${made} DEPENDS ${from} VERBATIM
    COMMAND sh -c "\"$1\" -9nc \"$2\" >\"$3\"" sh ${GZIP} ${from} ${made})
  add_custom_target(${name} ALL DEPENDS ${made})
  add_dependencies(installed ${name})
  install(FILES ${made} DESTINATION ${destination})
endfunction()
file(MAKE_DIRECTORY ${CMAKE_BINARY_DIR}/man)
compressed(${CMAKE_SOURCE_DIR}/docs/man/sprofile.1 ${CMAKE_INSTALL_MANDIR}/man1)
compressed(${CMAKE_SOURCE_DIR}/docs/man/libsprof.7 ${CMAKE_INSTALL_MANDIR}/man7)
compressed(${CMAKE_CURRENT_LIST_DIR}/changelog ${CMAKE_INSTALL_DOCDIR})

install(FILES ${CMAKE_CURRENT_LIST_DIR}/sprofile.bash
  DESTINATION ${CMAKE_INSTALL_DATADIR}/bash-completion/completions
  RENAME sprofile)
# The documentation with every file that it links to, laid out as in the source.
# The licence is in `copyright`, as Debian's policy has it (12.5).
install(FILES ${CMAKE_SOURCE_DIR}/README.md ${CMAKE_CURRENT_LIST_DIR}/copyright
  TYPE DOC)
install(DIRECTORY ${CMAKE_SOURCE_DIR}/docs TYPE DOC
  FILES_MATCHING PATTERN *.md PATTERN pictures/* PATTERN man EXCLUDE)
install(DIRECTORY ${CMAKE_SOURCE_DIR}/examples/continuous
  DESTINATION ${CMAKE_INSTALL_DOCDIR}/examples)
foreach(linked include/sprof.h src/base/loss.h src/base/options.h
    src/store/layout.h examples/words.c)
  get_filename_component(folder ${linked} DIRECTORY)
  install(FILES ${CMAKE_SOURCE_DIR}/${linked}
    DESTINATION ${CMAKE_INSTALL_DOCDIR}/${folder})
endforeach()

# Relative to where they stand, so that an installed tree can be moved. The folders
# themselves may be absolute (Nix, RPM).
file(RELATIVE_PATH sprof_pc_prefix ${CMAKE_INSTALL_FULL_LIBDIR}/pkgconfig
  ${CMAKE_INSTALL_PREFIX})
foreach(folder BINDIR INCLUDEDIR LIBDIR)
  file(RELATIVE_PATH SPROF_${folder} ${CMAKE_INSTALL_PREFIX}
    ${CMAKE_INSTALL_FULL_${folder}})
endforeach()
configure_file(${CMAKE_CURRENT_LIST_DIR}/sprof.pc.in sprof.pc @ONLY)
configure_package_config_file(${CMAKE_CURRENT_LIST_DIR}/sprof-config.cmake.in
  sprof-config.cmake INSTALL_DESTINATION ${SPROF_LIBDIR}/cmake/sprof
  PATH_VARS SPROF_LIBDIR SPROF_BINDIR SPROF_INCLUDEDIR)
write_basic_package_version_file(sprof-config-version.cmake
  COMPATIBILITY SameMajorVersion)
install(FILES ${CMAKE_BINARY_DIR}/sprof.pc
  DESTINATION ${CMAKE_INSTALL_LIBDIR}/pkgconfig)
install(FILES ${CMAKE_BINARY_DIR}/sprof-config.cmake
  ${CMAKE_BINARY_DIR}/sprof-config-version.cmake
  DESTINATION ${CMAKE_INSTALL_LIBDIR}/cmake/sprof)

# The command as the wheel has it: it finds libraries beside itself. DT_RPATH, and
# not DT_RUNPATH, holds for what these libraries need, too (ld.so(8)).
set_target_properties(sprofile-wheel PROPERTIES OUTPUT_NAME sprofile
  RUNTIME_OUTPUT_DIRECTORY ${CMAKE_BINARY_DIR}/wheel
  BUILD_WITH_INSTALL_RPATH ON INSTALL_RPATH "$ORIGIN/../lib")
target_link_options(sprofile-wheel PRIVATE -Wl,--disable-new-dtags)
if(NOT SPROF_TESTS)
  set_target_properties(sprofile-wheel PROPERTIES EXCLUDE_FROM_ALL ON)
endif()
configure_file(${CMAKE_CURRENT_LIST_DIR}/wheel.py wheel.py @ONLY)
add_custom_target(wheel COMMAND python3 ${CMAKE_BINARY_DIR}/wheel.py
  ${CMAKE_BINARY_DIR} VERBATIM)
add_dependencies(wheel sprof sprof-report sprofile-wheel)

add_custom_target(dist COMMAND bash ${CMAKE_CURRENT_LIST_DIR}/dist.sh
  ${CMAKE_SOURCE_DIR} ${CMAKE_BINARY_DIR}/libsprof-${PROJECT_VERSION}.tar.gz
  VERBATIM)

# A Debian package: cpack -G DEB. It is made in the build tree, wherever cpack
# is run.
set(CPACK_GENERATOR DEB)
set(CPACK_PACKAGE_DIRECTORY ${CMAKE_BINARY_DIR})
set(CPACK_PACKAGE_NAME libsprof)
set(CPACK_PACKAGE_CONTACT "The libsprof developers <developers@libsprof.invalid>")
set(CPACK_PACKAGE_DESCRIPTION_SUMMARY
  "sampling profiler that runs inside the program")
set(CPACK_PACKAGE_DESCRIPTION "Preload a library, get a profile: CPU time and
 wall time of all threads with complete stacks, without privileges, written
 for pprof, the Firefox Profiler, speedscope and flame graphs.")
set(CPACK_PACKAGING_INSTALL_PREFIX /usr)
set(CPACK_STRIP_FILES ON)
set(CPACK_PRE_BUILD_SCRIPTS ${CMAKE_CURRENT_LIST_DIR}/modes.cmake)
set(CPACK_DEBIAN_PACKAGE_CONTROL_STRICT_PERMISSION ON)
set(CPACK_DEBIAN_FILE_NAME DEB-DEFAULT)
set(CPACK_DEBIAN_PACKAGE_SECTION devel)
# What is in /usr/lib is in ldconfig's cache (Debian's policy, 8.1.1).
set(CPACK_DEBIAN_PACKAGE_CONTROL_EXTRA ${CMAKE_CURRENT_LIST_DIR}/triggers)
# objdump, for sprofile annotate.
set(CPACK_DEBIAN_PACKAGE_RECOMMENDS binutils)
# As `dpkg --print-architecture` says on such a machine. What a cross build needs
# is in no database of this machine: whoever builds it says that.
set(CPACK_DEBIAN_PACKAGE_ARCHITECTURE amd64)
if(machine STREQUAL aarch64)
  set(CPACK_DEBIAN_PACKAGE_ARCHITECTURE arm64)
endif()
if(CMAKE_CROSSCOMPILING)
  set(SPROF_DEPENDS "" CACHE STRING "Depends: of a cross-built Debian package")
  set(CPACK_DEBIAN_PACKAGE_DEPENDS "${SPROF_DEPENDS}")
else()
  set(CPACK_DEBIAN_PACKAGE_SHLIBDEPS ON)
endif()
include(CPack)
