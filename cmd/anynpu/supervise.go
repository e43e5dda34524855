package main

import (
	"fmt"
	"os"
	"os/signal"
	"slices"
	"syscall"
	"time"

	"golang.org/x/sys/unix"
)

// ended is how a program came to its end.
type ended struct {
	code   int            // exit code, where there is one
	signal syscall.Signal // that ended it, 0: none
	took   time.Duration
	cpu    time.Duration // of it and of those that it waited for
	peak   int64         // bytes of memory, at most
}

// own are the signals that concern this process, or cannot be caught.
var own = []syscall.Signal{syscall.SIGKILL, syscall.SIGSTOP, syscall.SIGCHLD, syscall.SIGURG, syscall.SIGTSTP,
	syscall.SIGTTIN, syscall.SIGTTOU, syscall.SIGPROF}

// fatal are the signals for which Go's runtime prints where it was, and exits with a code of its own.
var fatal = []syscall.Signal{syscall.SIGQUIT, syscall.SIGILL, syscall.SIGTRAP, syscall.SIGABRT, syscall.SIGBUS,
	syscall.SIGFPE, syscall.SIGSEGV, syscall.SIGSTKFLT, syscall.SIGSYS, syscall.SIGXCPU, syscall.SIGXFSZ}

// supervise runs a program and waits for it. Signals that this process gets go on to the program.
func supervise(path string, args, environment []string) (*ended, error) {
	signals := make(chan os.Signal, 64)
	for s := syscall.Signal(1); s < 32; s++ {
		if !slices.Contains(own, s) && !signal.Ignored(s) {
			signal.Notify(signals, s)
		}
	}
	begin := time.Now()
	p, err := os.StartProcess(path, args, &os.ProcAttr{Env: environment,
		Files: []*os.File{os.Stdin, os.Stdout, os.Stderr}})
	if err != nil {
		signal.Reset()
		return nil, err
	}
	over := make(chan struct{})
	go func() {
		for {
			select {
			case s := <-signals:
				if !fromTerminal(s) {
					_ = p.Signal(s)
				}
			case <-over:
				return
			}
		}
	}()
	state, err := p.Wait()
	close(over)
	if err != nil {
		return nil, err
	}
	e := &ended{code: state.ExitCode(), took: time.Since(begin), cpu: state.UserTime() + state.SystemTime()}
	if usage, ok := state.SysUsage().(*syscall.Rusage); ok {
		e.peak = usage.Maxrss << 10
	}
	if status, ok := state.Sys().(syscall.WaitStatus); ok && status.Signaled() {
		e.signal = status.Signal()
	}
	return e, nil
}

// fromTerminal says whether the terminal has given a signal to the program already, as to all of its foreground.
func fromTerminal(s os.Signal) bool {
	if s != syscall.SIGINT && s != syscall.SIGQUIT {
		return false
	}
	tty, err := os.Open("/dev/tty")
	if err != nil {
		return false
	}
	defer tty.Close()
	group, err := unix.IoctlGetInt(int(tty.Fd()), unix.TIOCGPGRP)
	return err == nil && group == unix.Getpgrp()
}

// end ends this process as the program ended.
func (e *ended) end() error {
	if e.signal == 0 {
		if e.code == 0 {
			return nil
		}
		return &exitError{code: e.code}
	}
	_ = unix.Setrlimit(unix.RLIMIT_CORE, &unix.Rlimit{}) // the program has left its own
	signal.Reset(e.signal)
	if slices.Contains(fatal, e.signal) {
		_ = unix.Exec("/bin/sh", []string{"sh", "-c", fmt.Sprintf("kill -%d $$", e.signal)}, []string{})
		return &exitError{code: 128 + int(e.signal)}
	}
	_ = unix.Kill(os.Getpid(), e.signal)
	time.Sleep(time.Second) // the signal is on its way, unless it is ignored here
	return &exitError{code: 128 + int(e.signal)}
}
