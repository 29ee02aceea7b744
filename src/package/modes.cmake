# SPDX-License-Identifier: MIT
#
# modes.cmake -- run by cpack before it packs: whatever the umask is, everyone can
# enter the folders of the package.
file(CHMOD_RECURSE ${CPACK_TEMPORARY_DIRECTORY} DIRECTORY_PERMISSIONS
  OWNER_READ OWNER_WRITE OWNER_EXECUTE GROUP_READ GROUP_EXECUTE
  WORLD_READ WORLD_EXECUTE)
