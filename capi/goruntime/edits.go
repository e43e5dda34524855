package main

// Room below the stack pointer for handlers of the host's, wherever a signal interrupts Go code: three of them, each
// interrupting the one before, with 48 KiB and a signal frame of up to 16 KiB each (3 KiB with AVX-512, 11 KiB with
// AMX).
const room = "3 * (48 + 16) << 10"

var edits = []edit{
	// Signals that the host handles without SA_ONSTACK arrive on the stack of the goroutine that they interrupt. The
	// runtime has a constant for systems where that is so always: bytes that every stack has below what Go code uses. A
	// goroutine begins with 256 KiB then, and so does the signal stack of a thread.
	{"stack.go",
		"stackSystem = goos.IsWindows*4096 + goos.IsPlan9*512 + goos.IsIos*goarch.IsArm64*1024\n",
		"stackSystem = goos.IsWindows*4096 + goos.IsPlan9*512 + goos.IsIos*goarch.IsArm64*1024 + " + room + "\n"},
	{"stack.go", // a stack shrinks only to one with that room
		"used := gp.stack.hi - gp.sched.sp + stackNosplit; used >= avail/4",
		"used := gp.stack.hi - gp.sched.sp + stackGuard; used >= avail/4"},

	// On a thread's signal stack Go's own handler comes after the host's, in the room.
	{"os_linux.go",
		"mp.gsignal = malg(32 * 1024) // Linux wants >= 2K\n",
		"mp.gsignal = malg(32 * 1024)\n\tmp.gsignal.stackguard0 -= stackSystem\n"},
	{"proc.go",
		"mp.gsignal.stackguard1 = mp.gsignal.stack.lo + stackGuard\n",
		"mp.gsignal.stackguard1 = mp.gsignal.stack.lo + stackGuard - stackSystem\n"},

	// Stacks that Go did not make have whatever room their owner gave them: those of threads, and signal stacks of the
	// host's.
	{"asm_amd64.s", "$const_stackGuard, AX", "$(const_stackGuard-const_stackSystem), AX"},
	{"asm_arm64.s", "$const_stackGuard, R0", "$(const_stackGuard-const_stackSystem), R0"},
	{"proc.go",
		"gp.stackguard0 = gp.stack.lo + stackGuard\n\t// This is the g0",
		"gp.stackguard0 = gp.stack.lo + stackGuard - stackSystem\n\t// This is the g0"},
	{"cgocall.go", "g0.stackguard0 = g0.stack.lo + stackGuard\n",
		"g0.stackguard0 = g0.stack.lo + stackGuard - stackSystem\n"},
	{"cgocall.go", "oldStack.lo + stackGuard\n", "oldStack.lo + stackGuard - stackSystem\n"},
	{"signal_unix.go", "gsignal.stackguard0 = stsp + stackGuard\n",
		"gsignal.stackguard0 = stsp + stackGuard - stackSystem\n"},
	{"signal_unix.go", "gsignal.stackguard1 = stsp + stackGuard\n",
		"gsignal.stackguard1 = stsp + stackGuard - stackSystem\n"},

	// Handlers keep the stack that the host installed them for: its alternate stack may be made for another handler,
	// and smaller. Not on arm64, whose code keeps words below the stack pointer, where a signal frame would begin.
	{"signal_unix.go", "\t\t\t\tsetsigstack(i)\n",
		"\t\t\t\tif GOARCH == \"arm64\" {\n\t\t\t\t\tsetsigstack(i)\n\t\t\t\t}\n"},

	// Go unblocks these on every thread that runs Go code, those of the host included. A host that blocks them, and
	// reads them by signalfd or sigwait, would lose SIGCHLD and die of the others. Nothing in the library needs them:
	// os/exec waits with waitid, no profile of Go's is taken, and 34, which musl keeps for itself, is glibc's SIGRTMIN.
	{"sigtab_linux_generic.go", `{_SigNotify + _SigUnblock + _SigIgn, "SIGCHLD:`, `{_SigNotify + _SigIgn, "SIGCHLD:`},
	{"sigtab_linux_generic.go", `{_SigNotify + _SigUnblock, "SIGPROF:`, `{_SigNotify, "SIGPROF:`},
	{"sigtab_linux_generic.go", `{_SigSetStack + _SigUnblock, "signal 34"}`, `{_SigSetStack, "signal 34"}`},
}
