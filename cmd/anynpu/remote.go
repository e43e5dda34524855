package main

import (
	"context"
	"fmt"
	"io"
	"os"
	"os/exec"
	"strings"
	"syscall"
	"time"

	"github.com/anynpu/anynpu/backends/cpu"
	"github.com/anynpu/anynpu/backends/dl"
	"github.com/anynpu/anynpu/backends/remote"
	"github.com/anynpu/anynpu/backends/remote/link"
	"github.com/anynpu/anynpu/backends/settings"
	"github.com/anynpu/anynpu/core/device"
	"github.com/anynpu/anynpu/core/fault"
)

// newRemote is the device of servers that a manifest names. Their state goes to tell, which may be nil.
func newRemote(r *dl.Remote, env func(string) string, tell settings.Teller) (*remote.Device, error) {
	c := remote.Config{Remote: r, Start: startRemote, Tell: func(text string) {
		if tell != nil {
			tell("remote", text)
		}
	}}
	if r.Fallback == dl.FallbackCPU {
		set := settings.Read(env, func(string, string, ...any) {})
		local, err := cpu.New(set.Config())
		if err != nil {
			return nil, err
		}
		c.Local = local
	}
	return remote.New(c)
}

// startRemote starts the program that speaks with servers. It ends with its socket.
func startRemote(socket *os.File) (end func(), err error) {
	path := beside(link.HelperName)
	if path == "" {
		return nil, fault.New(fault.File, "it is not beside the libraries [tool-helper-not-beside]")
	}
	cmd := exec.Command(path)
	cmd.ExtraFiles = []*os.File{socket}
	cmd.Stderr = os.Stderr
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	if err := cmd.Start(); err != nil {
		return nil, err
	}
	return func() { _ = cmd.Wait() }, nil // it has said why
}

// probeLimit bounds what is waited for servers.
const probeLimit = 15 * time.Second

// printRemote writes what servers say.
func printRemote(w io.Writer, list []link.Address) {
	for _, a := range list {
		printf(w, "  %s: %s", a.Address, a.State)
		if a.Server != "" {
			printf(w, ", %s", a.Server)
		}
		if a.LatencyMS > 0 {
			printf(w, ", ModelReady in %.2f ms", a.LatencyMS)
		}
		if a.Why != "" {
			printf(w, ": %s", a.Why)
		}
		printf(w, "\n")
		for _, m := range a.Models {
			printf(w, "    model %s\n", m)
		}
		if len(a.Extension) > 0 {
			printf(w, "    extensions %s\n", strings.Join(a.Extension, ", "))
		}
	}
}

// remoteRuns counts each server's runs for a device so far, and the runs that were computed here instead.
func remoteRuns(d *remote.Device) (list []link.Address, local int64) {
	ctx, cancel := context.WithTimeout(context.Background(), probeLimit)
	defer cancel()
	list, local, err := d.State(ctx, false)
	if err != nil {
		return nil, local
	}
	return list, local
}

// remoteProbe asks a device's servers what they are and have; none if it is no device of servers.
func remoteProbe(d device.Device) []link.Address {
	r, is := d.(*remote.Device)
	if !is {
		return nil
	}
	ctx, cancel := context.WithTimeout(context.Background(), probeLimit)
	defer cancel()
	list, _, err := r.State(ctx, true)
	if err != nil {
		return nil
	}
	return list
}

// addStatistics gives servers that count runs by themselves, and do not tell times run by run, what they have counted
// between two probes.
func addStatistics(list, before, after []link.Address) {
	if len(before) != len(list) || len(after) != len(list) {
		return
	}
	for i := range list {
		from, to := before[i].Statistics, after[i].Statistics
		if list[i].Timed == 0 && from != nil && to != nil && to.Runs > from.Runs {
			list[i].Statistics = &link.Statistics{Runs: to.Runs - from.Runs, QueueMS: to.QueueMS - from.QueueMS,
				ComputeMS: to.ComputeMS - from.ComputeMS}
		}
	}
}

// printRuns writes a line per server that was asked.
func printRuns(w io.Writer, list []link.Address, local int64) {
	for _, a := range list {
		if a.Runs+a.Failures == 0 {
			continue
		}
		printf(w, "address     %s: %s, %d failed, %s sent, %s received", a.Address, counted(int(a.Runs), "run"), a.Failures,
			bytesText(a.Sent), bytesText(a.Received))
		if a.Runs > 0 {
			printf(w, ", %.3f ms a run", a.TookMS/float64(a.Runs+a.Failures))
		}
		if n := float64(a.Timed); n > 0 {
			printf(w, ", there %.3f ms of queue and %.3f ms of computing", a.QueueMS/n, a.ComputeMS/n)
		} else if s := a.Statistics; s != nil && s.Runs > 0 {
			n = float64(s.Runs)
			printf(w, ", there %.3f ms of queue and %.3f ms of computing in %s of all clients", s.QueueMS/n, s.ComputeMS/n,
				counted(int(s.Runs), "run"))
		}
		printf(w, "\n")
	}
	if local > 0 {
		printf(w, "here        %s, as no server computed them\n", counted(int(local), "run"))
	}
}

func bytesText(n int64) string {
	switch {
	case n >= 1e9:
		return fmt.Sprintf("%.2f GB", float64(n)/1e9)
	case n >= 1e6:
		return fmt.Sprintf("%.2f MB", float64(n)/1e6)
	}
	return fmt.Sprintf("%.1f kB", float64(n)/1e3)
}
