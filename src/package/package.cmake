# SPDX-License-Identifier: MIT
#
# package.cmake -- what `cmake --install` and CPack put where.
include(CMakePackageConfigHelpers)

install(TARGETS sprof sprof-report sprofile)
install(FILES ${CMAKE_SOURCE_DIR}/include/sprof.h TYPE INCLUDE)
install(FILES ${CMAKE_SOURCE_DIR}/docs/man/sprofile.1
  DESTINATION ${CMAKE_INSTALL_MANDIR}/man1)
install(FILES ${CMAKE_SOURCE_DIR}/docs/man/libsprof.7
  DESTINATION ${CMAKE_INSTALL_MANDIR}/man7)
install(FILES ${CMAKE_CURRENT_LIST_DIR}/sprofile.bash
  DESTINATION ${CMAKE_INSTALL_DATADIR}/bash-completion/completions
  RENAME sprofile)
install(FILES ${CMAKE_SOURCE_DIR}/README.md ${CMAKE_SOURCE_DIR}/LICENSE
  TYPE DOC)

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

# A Debian package: cpack -G DEB
set(CPACK_GENERATOR DEB)
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
set(CPACK_DEBIAN_PACKAGE_SHLIBDEPS ON)
include(CPack)
