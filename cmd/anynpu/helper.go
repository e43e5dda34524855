package main

import (
	"context"
	"errors"
	"io"
	"os"
	"os/exec"
	"syscall"
	"time"

	"github.com/anynpu/anynpu/backends/dl"
)

// maxOutput bounds what is read of a helper's output.
const maxOutput = 64 << 10

// runHelper is a dl.Runner for a process that has no host, which would see the helper as a child of its own.
func runHelper(argv, environment []string, limit time.Duration) (dl.Outcome, error) {
	return runHelperTo(nil, argv, environment, limit)
}

// runHelperTo is runHelper with a place for the helper's standard error, nil: it is lost.
func runHelperTo(stderr io.Writer, argv, environment []string, limit time.Duration) (dl.Outcome, error) {
	ctx, cancel := context.WithTimeout(context.Background(), limit)
	defer cancel()
	r, w, err := os.Pipe()
	if err != nil {
		return dl.Outcome{}, err
	}
	defer r.Close()
	cmd := exec.CommandContext(ctx, argv[0], argv[1:]...)
	cmd.Env = append(os.Environ(), environment...)
	cmd.Stderr = stderr
	cmd.WaitDelay = time.Second // processes that it leaves behind may hold its standard error
	cmd.ExtraFiles = []*os.File{w}
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	cmd.Cancel = func() error { return syscall.Kill(-cmd.Process.Pid, syscall.SIGKILL) }
	err = cmd.Start()
	w.Close()
	if err != nil {
		return dl.Outcome{}, err
	}
	text := make(chan string, 1)
	go func() {
		data, _ := io.ReadAll(io.LimitReader(r, maxOutput))
		text <- string(data)
	}()
	err = cmd.Wait()
	var ended *exec.ExitError
	if err != nil && !errors.As(err, &ended) && !errors.Is(err, exec.ErrWaitDelay) && ctx.Err() == nil {
		return dl.Outcome{}, err
	}
	// Processes that the driver has left behind may hold the pipe.
	_ = syscall.Kill(-cmd.Process.Pid, syscall.SIGKILL)
	o := dl.Outcome{Exit: cmd.ProcessState.ExitCode(), TimedOut: ctx.Err() != nil}
	if s, ok := cmd.ProcessState.Sys().(syscall.WaitStatus); ok && s.Signaled() {
		o.Signal = int(s.Signal())
	}
	_ = r.SetReadDeadline(time.Now().Add(time.Second))
	o.Output = <-text
	return o, nil
}
