/*
 * SPDX-License-Identifier: Apache-2.0
 *
 * Preloaded by memcheck.sh into hosts under valgrind: tells memcheck which memory is of Go's runtime. The runtime maps
 * all of it, heap, goroutine stacks and tables, by calls of mmap from the core library; this mmap sees them. Bad
 * addresses in those ranges are not reported where the program's own code or Go's touches them, and each range is a
 * line "go memory FROM TO" of valgrind's log, for judging what valgrind reports of system calls.
 */
#include <dlfcn.h>
#include <errno.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>
#include <valgrind/memcheck.h>

/* Whether the code at address belongs to the core library. */
static int in_core(const void *address)
{
	Dl_info info;
	return dladdr(address, &info) && info.dli_fname && strstr(info.dli_fname, "libanynpu.so.0");
}

void *mmap(void *address, size_t size, int rights, int flags, int fd, off_t offset)
{
	void *p = (void *)syscall(SYS_mmap, address, size, rights, flags, fd, offset);
	int code = errno;
	if (p != MAP_FAILED && fd == -1 && (rights & PROT_WRITE) && in_core(__builtin_return_address(0))) {
		VALGRIND_DISABLE_ADDR_ERROR_REPORTING_IN_RANGE(p, size);
		VALGRIND_PRINTF("go memory %p %p\n", p, (char *)p + size);
	}
	errno = code;
	return p;
}

int munmap(void *address, size_t size)
{
	int result = (int)syscall(SYS_munmap, address, size);
	int code = errno;
	if (result == 0 && in_core(__builtin_return_address(0)))
		VALGRIND_ENABLE_ADDR_ERROR_REPORTING_IN_RANGE(address, size);
	errno = code;
	return result;
}
