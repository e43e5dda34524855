/*
 * SPDX-License-Identifier: Apache-2.0
 *
 * Calls from constructors before main, from thread_local and global destructors, and from atexit.
 */
#include <cstdint>
#include <thread>

#include "host.h"

struct Caller {
	Caller() { CHECK(host_answer() == 0, "wrong answer in a constructor"); }
	~Caller() { CHECK(host_answer() == 0, "wrong answer in a destructor"); }
};

/* Made before the callers and ended after them. */
struct Host {
	Host() { host_begin(); }
	~Host()
	{
		if (host_end() != 0)
			_Exit(1);
	}
};

static Host host;
static Caller global;
static thread_local Caller local;

static volatile std::uintptr_t touched;
static void touch(Caller *c) { touched = reinterpret_cast<std::uintptr_t>(c); }

static void at_exit() { CHECK(host_answer() == 0, "wrong answer in atexit"); }

int main()
{
	atexit(at_exit);
	std::thread([] { touch(&local); }).join();
	touch(&local);
	touch(&global);
	return 0;
}
