package main

import (
	"context"
	"io"
	"os"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/anynpu/anynpu/backends/dl"
	"github.com/anynpu/anynpu/backends/dl/loader"
	"github.com/anynpu/anynpu/backends/remote/link"
	"github.com/anynpu/anynpu/core/spec"
)

// drivers is the JSON form of drivers; docs/drivers.schema.json describes it.
type drivers struct {
	Schema  string       `json:"schema"` // "anynpu.drivers/1"
	Drivers []driverInfo `json:"drivers"`
}

// driverInfo is a driver that a manifest or a variable names.
type driverInfo struct {
	*dl.Candidate
	Used  bool     `json:"used"`  // the first that can be used of its API; each, where all devices of it are used
	Lacks []string `json:"lacks"` // functions of the API that its file does not export; none where they are in a table
	// Addresses hold the answers of servers, where a manifest names servers in place of a driver.
	Addresses []link.Address `json:"addresses,omitempty"`
}

func newDrivers(stdout io.Writer) *cobra.Command {
	asJSON, again := false, false
	cmd := &cobra.Command{
		Use:   "drivers",
		Short: "List the vendors' drivers that manifests name, and why those that are not used are not",
		Long: `drivers lists the vendors' drivers that manifests and environment name, in the
order in which they are tried, each with what becomes of it: used, the first of
its API that can be; usable, behind that; skipped, because its manifest is for
another environment or version; refused, with the reason. The functions of the API
that a usable one lacks are listed: calls of them are refused where they go to it.

A driver's file that is new here is first opened by a program of its own, as the
library does it; what came of that is kept until the file changes. --probe does
it again for all.

Servers that a manifest names in place of a driver are asked what they are and
whether they have its models.`,
		Example: "  anynpu drivers\n  anynpu drivers --json\n  anynpu drivers --probe",
		Args:    noArguments,
		RunE: func(*cobra.Command, []string) error {
			env := lookup(os.Environ())
			d := drivers{Schema: "anynpu.drivers/1", Drivers: listDrivers(env, again)}
			probeRemotes(d.Drivers, env)
			if asJSON {
				return writeJSON(stdout, d)
			}
			printDrivers(stdout, d.Drivers)
			if len(d.Drivers) == 0 {
				printf(stdout, "no driver: no manifest is on the search path, and no variable names one\n")
			}
			return nil
		},
	}
	cmd.Flags().BoolVar(&asJSON, "json", false, `write JSON, schema "anynpu.drivers/1"`)
	cmd.Flags().BoolVar(&again, "probe", false, "try every file again, whatever came of it before")
	return cmd
}

// listDrivers finds and probes every driver, for programs with the given environment.
func listDrivers(env func(string) string, again bool) []driverInfo {
	o := dl.Options{Getenv: env, Version: version, Helper: helperFile, Run: runHelper, Again: again}
	out, used := []driverInfo{}, map[string]bool{}
	for _, a := range dl.APIs {
		s, _ := a.Set(env)
		used[a.Name] = s == dl.ToCPU // no driver of it is used
	}
	for _, c := range dl.List(o) {
		c.Probe(o)
		use := c.Status == dl.Usable && (!used[c.API] || c.Remote != nil)
		if a, known := dl.Find(c.API); use && known && a.Alone {
			c.ProbeDevices(o)
		} else {
			used[c.API] = used[c.API] || use
		}
		lacks := []string{}
		if c.Status == dl.Usable && !c.Table && c.Remote == nil {
			lacks, _ = lacksOf(c.API, c.File)
		}
		out = append(out, driverInfo{Candidate: c, Used: use, Lacks: lacks})
	}
	return out
}

// probeRemotes asks every server that a manifest names what it is and has.
func probeRemotes(list []driverInfo, env func(string) string) {
	for i := range list {
		d := &list[i]
		if d.Remote == nil || !d.Used {
			continue
		}
		r := *d.Remote
		r.Fallback = dl.FallbackOff
		dev, err := newRemote(&r, env, nil) // what it would tell is printed
		if err == nil {
			ctx, cancel := context.WithTimeout(context.Background(), probeLimit)
			d.Addresses, _, err = dev.State(ctx, true)
			cancel()
			dev.Close()
		}
		if err != nil {
			d.Reason = err.Error()
		}
	}
}

func printDrivers(w io.Writer, list []driverInfo) {
	for _, d := range list {
		status := string(d.Status)
		if d.Used {
			status = "used"
		}
		printf(w, "driver      %s %s: %s\n  %s, as %s says\n", orDash(d.API), orDash(d.Name), status, orDash(d.Path),
			d.Source)
		if d.Table {
			a, _ := dl.Find(d.API)
			printf(w, "  a device alone: its functions are in the table of %s\n", a.Table.Function)
		}
		if d.Remote != nil && d.Used {
			leave := "tensors leave"
			if d.Remote.Upload != nil {
				leave = "tensors, and models that they lack, leave"
			}
			printf(w, "  device remote:%s: %s this machine for these servers\n", d.Name, leave)
			printRemote(w, d.Addresses)
		}
		if d.Reason != "" {
			printf(w, "  %s\n", d.Reason)
		}
		if len(d.Lacks) > 0 {
			printLacks(w, d.Lacks)
		}
		for _, p := range d.Devices {
			printf(w, "  %s is the provider %s", p.ID, p.Provider)
			if p.Plugin != "" {
				printf(w, " of %s", p.Plugin)
			}
			printf(w, "\n")
			if p.Reason != "" {
				printf(w, "    not used: %s\n", p.Reason)
			}
		}
	}
}

// lacksOf lists the functions of an API that a driver's file does not export, in the order of the headers. A program's
// call of one is refused where its calls go to the driver. ok is false where the file cannot be read.
func lacksOf(api, file string) (lacks []string, ok bool) {
	has, err := loader.Exports(file)
	if err != nil {
		return []string{}, false
	}
	slices.Sort(has)
	lacks = []string{}
	for _, a := range spec.APIs {
		if a.Name != api {
			continue
		}
		for _, name := range a.Functions {
			if _, found := slices.BinarySearch(has, name); !found {
				lacks = append(lacks, name)
			}
		}
	}
	return lacks, true
}

// printLacks writes which functions a driver lacks, in lines of so many letters.
func printLacks(w io.Writer, lacks []string) {
	const width = 100
	printf(w, "  lacks %s of the API:\n", counted(len(lacks), "function"))
	line := ""
	for _, name := range lacks {
		if line != "" && len(line)+len(name) > width {
			printf(w, "    %s\n", strings.TrimSuffix(line, " "))
			line = ""
		}
		line += name + " "
	}
	printf(w, "    %s\n", strings.TrimSuffix(line, " "))
}
