# SPDX-License-Identifier: MIT
#
# default.nix -- the package for Nix, from an unpacked archive of the source:
# nix-build libsprof-VERSION/src/package
{ pkgs ? import <nixpkgs> { } }:

pkgs.stdenv.mkDerivation {
  pname = "libsprof";
  version = "0.1.0";
  src = ../..;

  nativeBuildInputs = [ pkgs.cmake pkgs.pkg-config pkgs.protobufc ];
  # bzip2 and xz: pkg-config looks for what libdw needs.
  buildInputs = [
    pkgs.bzip2
    pkgs.curl
    pkgs.elfutils
    pkgs.libdeflate
    pkgs.libiberty
    pkgs.libmicrohttpd
    pkgs.ncurses
    pkgs.protobufc
    pkgs.xz
    pkgs.zlib
    pkgs.zstd
  ];

  # The library runs in signal handlers, and is tested with the flags that its
  # own build has.
  hardeningDisable = [ "all" ];

  meta = {
    description = "Sampling profiler that runs inside the program";
    license = pkgs.lib.licenses.mit;
    platforms = [ "x86_64-linux" "aarch64-linux" ];
    mainProgram = "sprofile";
  };
}
