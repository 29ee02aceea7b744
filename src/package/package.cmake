# SPDX-License-Identifier: MIT
#
# package.cmake -- what `cmake --install` and CPack put where.
include(CMakePackageConfigHelpers)

# All that is installed. Its files are built without the tests.
add_custom_target(installed DEPENDS sprof sprofile sprof-report)

install(TARGETS sprof sprofile)
# A program, which libsprof.so looks for beside itself.
install(TARGETS sprof-report RUNTIME DESTINATION ${CMAKE_INSTALL_LIBDIR})
install(FILES ${CMAKE_SOURCE_DIR}/include/sprof.h TYPE INCLUDE)

# manual(NAME SECTION): a manual page, compressed as Debian's policy has it
# (12.1), without the time at which that was done.
find_program(GZIP gzip REQUIRED)
function(manual name section)
  set(page ${CMAKE_BINARY_DIR}/man/${name}.${section}.gz)
  set(from ${CMAKE_SOURCE_DIR}/docs/man/${name}.${section})
  add_custom_command(OUTPUT ${page} DEPENDS ${from} VERBATIM
    COMMAND sh -c "\"$1\" -9nc \"$2\" >\"$3\"" sh ${GZIP} ${from} ${page})
  add_custom_target(${name}.${section} ALL DEPENDS ${page})
  add_dependencies(installed ${name}.${section})
  install(FILES ${page} DESTINATION ${CMAKE_INSTALL_MANDIR}/man${section})
endfunction()
file(MAKE_DIRECTORY ${CMAKE_BINARY_DIR}/man)
manual(sprofile 1)
manual(libsprof 7)

install(FILES ${CMAKE_CURRENT_LIST_DIR}/sprofile.bash
  DESTINATION ${CMAKE_INSTALL_DATADIR}/bash-completion/completions
  RENAME sprofile)
# The documentation with every file that it links to, laid out as in the source.
install(FILES ${CMAKE_SOURCE_DIR}/README.md ${CMAKE_SOURCE_DIR}/LICENSE
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

# Relative to where it stands, so that an installed tree can be moved.
file(RELATIVE_PATH sprof_pc_prefix ${CMAKE_INSTALL_FULL_LIBDIR}/pkgconfig
  ${CMAKE_INSTALL_PREFIX})
configure_file(${CMAKE_CURRENT_LIST_DIR}/sprof.pc.in sprof.pc @ONLY)
configure_package_config_file(${CMAKE_CURRENT_LIST_DIR}/sprof-config.cmake.in
  sprof-config.cmake
  INSTALL_DESTINATION ${CMAKE_INSTALL_LIBDIR}/cmake/sprof
  PATH_VARS CMAKE_INSTALL_LIBDIR CMAKE_INSTALL_BINDIR
  CMAKE_INSTALL_INCLUDEDIR)
write_basic_package_version_file(sprof-config-version.cmake
  COMPATIBILITY SameMajorVersion)
install(FILES ${CMAKE_BINARY_DIR}/sprof.pc
  DESTINATION ${CMAKE_INSTALL_LIBDIR}/pkgconfig)
install(FILES ${CMAKE_BINARY_DIR}/sprof-config.cmake
  ${CMAKE_BINARY_DIR}/sprof-config-version.cmake
  DESTINATION ${CMAKE_INSTALL_LIBDIR}/cmake/sprof)

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
set(CPACK_DEBIAN_FILE_NAME DEB-DEFAULT)
set(CPACK_DEBIAN_PACKAGE_SECTION devel)
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
