// SPDX-License-Identifier: MIT

// calls.go -- computes, and calls preadv(2) for as long; see calls.py.
// Usage: calls SECONDS BYTES FILE
package main

import "C" // a static binary has no LD_PRELOAD

import (
	"fmt"
	"os"
	"runtime"
	"strconv"
	"syscall"
	"time"
	"unsafe"
)

const (
	partNs      = 50_000_000
	bufferSize  = 64 << 20
	threadClock = 3 // CLOCK_THREAD_CPUTIME_ID
)

func used() int64 {
	var now syscall.Timespec
	syscall.RawSyscall(syscall.SYS_CLOCK_GETTIME, threadClock, uintptr(unsafe.Pointer(&now)), 0)
	return now.Nano()
}

var number = 1

//go:noinline
func call_user() int64 {
	begin := used()
	for used()-begin < partNs {
		for i := 0; i < 10000; i++ {
			number = number * 7 % 1000003
		}
	}
	return used() - begin
}

//go:noinline
func call_read(fd uintptr, buffers []syscall.Iovec) (int64, int) {
	begin, count := used(), 0
	for used()-begin < partNs {
		syscall.Syscall6(syscall.SYS_PREADV, fd, uintptr(unsafe.Pointer(&buffers[0])), uintptr(len(buffers)), 0, 0, 0)
		count++
	}
	return used() - begin, count
}

func main() {
	runtime.LockOSThread()
	file, err := os.Open(os.Args[3])
	if err != nil {
		panic(err)
	}
	size, _ := strconv.Atoi(os.Args[2])
	seconds, _ := strconv.ParseFloat(os.Args[1], 64)
	buffer := make([]byte, min(size, bufferSize))
	buffers := make([]syscall.Iovec, max(1, size/bufferSize))
	for i := range buffers {
		buffers[i] = syscall.Iovec{Base: &buffer[0], Len: uint64(len(buffer))}
	}
	var user, read int64
	calls := 0
	end := time.Now().Add(time.Duration(seconds * 1e9))
	for time.Now().Before(end) {
		user += call_user()
		more, count := call_read(file.Fd(), buffers)
		read += more
		calls += count
	}
	fmt.Println("work call_user", user, user)
	fmt.Println("work call_read", read, read)
	fmt.Println("calls", calls)
}
