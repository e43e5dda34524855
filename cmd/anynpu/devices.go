package main

import (
	"context"
	"fmt"
	"io"
	"os"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/anynpu/anynpu/backends/remote"
	"github.com/anynpu/anynpu/core/device"
	"github.com/anynpu/anynpu/core/graph"
	"github.com/anynpu/anynpu/core/op/opcase"
	"github.com/anynpu/anynpu/internal/devicecheck"
	"github.com/anynpu/anynpu/internal/environ"
)

// devicesReport is the JSON form of devices.
type devicesReport struct {
	Schema  string         `json:"schema"` // "anynpu.devices/1"
	Devices []listedDevice `json:"devices"`
}

// listedDevice is a device that may compute.
type listedDevice struct {
	ID   string `json:"id"`
	Name string `json:"name"`
	File string `json:"file"` // of the driver; empty for the CPU
}

// deviceTest is the JSON form of devices --test.
type deviceTest struct {
	Schema  string               `json:"schema"` // "anynpu.devices-test/1"
	Device  string               `json:"device"`
	Kernels string               `json:"kernels,omitempty"` // of the CPU: "reference", or an instruction set
	Pass    int                  `json:"pass"`
	Refused int                  `json:"refused"`
	Wrong   int                  `json:"wrong"` // those that failed included
	NotRun  int                  `json:"not_run"`
	Results []devicecheck.Result `json:"results"`
}

// devicesFlags are the flags of devices.
type devicesFlags struct {
	computeFlags
	test, perf, json bool
	ops              []string
}

func newDevices(stdout, stderr io.Writer) *cobra.Command {
	f := devicesFlags{}
	cmd := &cobra.Command{
		Use:   "devices",
		Short: "List the devices that may compute, or test one on every operator",
		Long: `devices lists the devices that may compute: the CPU, the first device of each
driver that is used, and the servers that manifests name.

--test has one device, that of --device or else of ANYNPU_DEVICE or the CPU,
compute every operator of the library, in its element types and forms, and
compares the results with the plain reference kernels. It prints a row per
operator: how many cases pass, how many the device refuses and why, how many are
wrong and by how much at most, in steps of quantized types. A case that the
device takes and then fails is wrong. --op takes the cases of one operator and
prints each; --perf adds the lowest time of a run, as the sum of an operator's
cases.

Exit code 1 when anything is wrong, 5 when the device dies on the way: the cases
that are left are not run.`,
		Example: "  anynpu devices\n  anynpu devices --test\n  anynpu devices --test --op conv --perf\n  anynpu devices " +
			"--test " +
			"--device rknn --json",
		Args: noArguments,
		RunE: func(*cobra.Command, []string) error { return f.run(stdout, stderr) },
	}
	f.add(cmd)
	fl := cmd.Flags()
	fl.BoolVar(&f.test, "test", false, "compute every operator and compare with the reference")
	fl.StringArrayVar(&f.ops, "op", nil, "with --test: the operator `NAME` alone, case by case; may be given again")
	fl.BoolVar(&f.perf, "perf", false, "with --test: measure how long a run takes")
	fl.BoolVar(&f.json, "json", false, `write JSON, schema "anynpu.devices/1", with --test "anynpu.devices-test/1"`)
	complete(cmd, "op", testedOps()...)
	return cmd
}

// testedOps are the operators that have cases.
func testedOps() []string {
	return slices.DeleteFunc(graph.OpNames(), func(name string) bool { return opcase.Without[name] != "" })
}

func (f *devicesFlags) check() error {
	if f.test {
		ops := testedOps()
		for _, name := range f.ops {
			switch why := opcase.Without[name]; {
			case why != "":
				return usage("--op %s: it has no cases: %s [tool-op-no-cases]", name, why)
			case !slices.Contains(ops, name):
				return usage("--op %s: there is no such operator; did you mean %s? "+
					"[tool-op-no-operator]", name, environ.NearestOf(name, ops))
			}
		}
		return nil
	}
	for _, flag := range []string{"op", "perf", "device", "threads", "isa", "ref"} {
		if f.cmd.Flags().Changed(flag) {
			return usage("--%s goes with --test [tool-goes-test]", flag)
		}
	}
	return nil
}

func (f *devicesFlags) run(stdout, stderr io.Writer) error {
	if err := f.check(); err != nil {
		return err
	}
	if !f.test {
		return f.list(stdout)
	}
	on, err := f.open(stderr, nil)
	if err != nil {
		return err
	}
	defer on.close()
	checks, err := devicecheck.Checks(f.ops...)
	if err != nil {
		return exit(exitRun, err)
	}
	return f.tested(on.devices[0], on, checks, stdout)
}

// tested runs checks on a device and prints what comes of them.
func (f *devicesFlags) tested(d device.Device, on *machine, checks []devicecheck.Check, stdout io.Writer) error {
	results, died := devicecheck.Run(context.Background(), d, checks, devicecheck.Options{Perf: f.perf})
	t := newDeviceTest(d, on, results)
	if f.json {
		if err := writeJSON(stdout, t); err != nil {
			return err
		}
	} else {
		t.write(stdout, len(f.ops) > 0, f.perf)
	}
	switch {
	case died != nil:
		return exit(exitRun, fmt.Errorf("%w; %d of %d cases were not run", died, t.NotRun, len(results)))
	case t.Wrong > 0:
		return exit(exitDifferent, fmt.Errorf("device %s: %d of %d cases are wrong", t.Device, t.Wrong, len(results)))
	}
	return nil
}

// list prints the devices. Those of a driver beside its first are known once it is open, and are not listed,
// but for those that a manifest names.
func (f *devicesFlags) list(w io.Writer) error {
	r := devicesReport{Schema: "anynpu.devices/1", Devices: []listedDevice{{ID: "cpu", Name: "CPU"}}}
	for _, d := range listDrivers(lookup(os.Environ()), false) {
		for _, p := range d.Devices {
			if d.Used && p.Reason == "" {
				r.Devices = append(r.Devices, listedDevice{p.ID, p.Provider + " of " + d.Name, d.File})
			}
		}
		if d.Used && len(d.Devices) == 0 && slices.Contains(driverDevices, d.API) {
			r.Devices = append(r.Devices, listedDevice{d.API, d.Name, d.File})
		}
		if d.Used && d.Remote != nil {
			r.Devices = append(r.Devices, listedDevice{ID: remote.Prefix + d.Name, Name: "servers at " + d.Path})
		}
	}
	if f.json {
		return writeJSON(w, r)
	}
	for _, d := range r.Devices {
		printf(w, "%-6s  %s", d.ID, d.Name)
		if d.File != "" {
			printf(w, ", %s", d.File)
		}
		printf(w, "\n")
	}
	return nil
}

func newDeviceTest(d device.Device, on *machine, results []devicecheck.Result) *deviceTest {
	t := &deviceTest{Schema: "anynpu.devices-test/1", Device: d.Info().ID, Results: results}
	if t.Device == "cpu" {
		t.Kernels = on.kernels()
	}
	for _, r := range results {
		switch r.Outcome {
		case devicecheck.Pass:
			t.Pass++
		case devicecheck.Refused:
			t.Refused++
		case devicecheck.NotRun:
			t.NotRun++
		default:
			t.Wrong++
		}
	}
	return t
}

// write prints a row per operator, or each case.
func (t *deviceTest) write(w io.Writer, cases, perf bool) {
	printf(w, "device      %s", t.Device)
	if t.Kernels != "" {
		printf(w, ", kernels %s", t.Kernels)
	}
	printf(w, "\n")
	rows := devicecheck.Rows(t.Results)
	if cases {
		t.writeCases(w, perf)
	} else {
		writeRows(w, rows, perf)
	}
	printf(w, "%d cases of %d operators: %d pass, %d refused, %d wrong", len(t.Results), len(rows), t.Pass, t.Refused,
		t.Wrong)
	if t.NotRun > 0 {
		printf(w, ", %d not run", t.NotRun)
	}
	printf(w, "\n")
}

// mostReasons is how many reasons are printed of one operator.
const mostReasons = 3

func writeRows(w io.Writer, rows []devicecheck.Row, perf bool) {
	printf(w, "%-28s %5s %8s %6s %9s%s\n", "operator", "pass", "refused", "wrong", "largest", perfText(perf, "min ms"))
	for _, r := range rows {
		printf(w, "%-28s %5d %8d %6d %9.2g%s\n", r.Op, r.Count[devicecheck.Pass], r.Count[devicecheck.Refused],
			r.Count[devicecheck.Wrong]+r.Count[devicecheck.Failed], r.Difference, perfText(perf, fmt.Sprintf("%.4f", r.MinMS)))
		for i, why := range r.Reasons {
			if i == mostReasons {
				printf(w, "  and %d other reasons\n", len(r.Reasons)-i)
				break
			}
			printf(w, "  %d %s: %s\n", why.Checks, string(why.Outcome), why.Why)
		}
	}
}

func (t *deviceTest) writeCases(w io.Writer, perf bool) {
	for _, r := range t.Results {
		printf(w, "%-8s %s", string(r.Outcome), strings.TrimSpace(r.Op+" "+r.Types+" "+r.Form))
		if r.Difference > 0 {
			printf(w, ", largest difference %.2g", r.Difference)
		}
		if perf && r.MinMS > 0 {
			printf(w, ", %.4f ms", r.MinMS)
		}
		if r.Why != "" {
			printf(w, ": %s", r.Why)
		}
		printf(w, "\n")
	}
}

// perfText is a column of --perf.
func perfText(perf bool, text string) string {
	if !perf {
		return ""
	}
	return fmt.Sprintf(" %10s", text)
}
