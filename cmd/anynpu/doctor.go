package main

import (
	"fmt"
	"io"
	"os"

	"github.com/spf13/cobra"

	"github.com/anynpu/anynpu/backends/dl/loader"
)

// doctorReport is the JSON form of doctor; docs/schemas/doctor.json describes it.
type doctorReport struct {
	Schema   string    `json:"schema"` // "anynpu.doctor/1"
	Version  string    `json:"version"`
	Findings []finding `json:"findings"`
	Problems int       `json:"problems"`
	Notes    int       `json:"notes"`
}

func newDoctor(stdout io.Writer) *cobra.Command {
	asJSON, all := false, false
	cmd := &cobra.Command{
		Use:   "doctor",
		Short: "Look for what keeps programs from running well here, and say what to do",
		Long: `doctor looks at what lies between a program and its results: the libraries'
files of each SONAME on the search path, their versions, the drivers' manifests,
the device nodes and who may open them, the limits of memory, threads and files,
the folders for caches and temporary files, and the environment.

It prints what is wrong or worth knowing, each with a remedy; --all prints what
is right, too. The exit code is 1 if something is wrong, else 0.`,
		Example: "  anynpu doctor\n  anynpu doctor --all\n  anynpu doctor --json",
		Args:    noArguments,
		RunE: func(*cobra.Command, []string) error {
			d := &doctor{env: lookup(os.Environ())}
			r := d.examine(os.Environ())
			if asJSON {
				if err := writeJSON(stdout, r); err != nil {
					return err
				}
			} else {
				r.print(stdout, all)
			}
			if r.Problems > 0 {
				return exit(exitDifferent, fmt.Errorf("doctor: %s", counted(r.Problems, "problem")))
			}
			return nil
		},
	}
	cmd.Flags().BoolVar(&asJSON, "json", false, `write JSON, schema "anynpu.doctor/1", with what is right`)
	cmd.Flags().BoolVar(&all, "all", false, "print what is right, too")
	return cmd
}

// examine makes every check.
func (d *doctor) examine(environment []string) *doctorReport {
	d.libraries(loader.CacheFile)
	d.core(loader.CacheFile)
	d.drivers(listDrivers(d.env, false))
	d.nodes()
	d.limits()
	d.folders()
	d.environment(environment)
	r := &doctorReport{Schema: "anynpu.doctor/1", Version: version, Findings: d.list}
	for _, f := range d.list {
		switch f.State {
		case stateProblem:
			r.Problems++
		case stateNote:
			r.Notes++
		}
	}
	return r
}

func (r *doctorReport) print(w io.Writer, all bool) {
	shown := 0
	for _, f := range r.Findings {
		if f.State == stateOK && !all {
			continue
		}
		shown++
		printf(w, "%-8s %-11s %s\n", f.State, f.Check, f.Text)
		if f.Remedy != "" {
			printf(w, "%-8s %-11s %s\n", "", "", f.Remedy)
		}
	}
	if shown > 0 {
		printf(w, "\n")
	}
	printf(w, "%s, %s, %d checks are fine\n", counted(r.Problems, "problem"), counted(r.Notes, "note"),
		len(r.Findings)-r.Problems-r.Notes)
}
