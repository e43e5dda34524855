package main

import (
	"bytes"
	_ "embed"
	"html/template"
	"io"
	"os"
	"strings"

	"github.com/spf13/cobra"

	"github.com/anynpu/anynpu/core/fault"
)

func newInfo(stdout io.Writer) *cobra.Command {
	asJSON, short, html := false, false, ""
	cmd := &cobra.Command{
		Use:   "info",
		Short: "Tell what computes here, and which file a program gets for each vendor's library",
		Long: `info prints the version, the processor with the kernels that it has, the
devices with their features, the APIs with the file that a program started here
would get for each SONAME, the vendors' drivers, and the environment variables in
force. A variable
whose name begins with ANYNPU_ and that nothing reads is named with the nearest
one that there is.

A program with an RPATH or RUNPATH of its own may get another file.`,
		Example: "  anynpu info\n  anynpu info --summary\n  anynpu info --json",
		Args:    noArguments,
		RunE: func(*cobra.Command, []string) error {
			i, err := gather(os.Environ())
			if err != nil {
				return err
			}
			if asJSON {
				return writeJSON(stdout, i)
			}
			if html != "" {
				return i.page(html)
			}
			if short {
				i.summary(stdout)
			} else {
				i.print(stdout)
			}
			return nil
		},
	}
	cmd.Flags().BoolVar(&asJSON, "json", false, `write JSON, schema "anynpu.info/1"`)
	cmd.Flags().BoolVar(&short, "summary", false, "print five lines")
	cmd.Flags().StringVar(&html, "html", "", "write a page to `FILE`")
	cmd.MarkFlagsMutuallyExclusive("json", "summary", "html")
	return cmd
}

// summary writes five lines: what computes, for whom, and what has no effect.
func (i *info) summary(w io.Writer) {
	p := i.Processor
	printf(w, "AnyNPU %s on %s, %s: kernels %s, %s\n", i.Version, orDash(p.Name), p.Architecture, p.Level,
		counted(p.Threads, "thread"))
	ids := []string{}
	for _, d := range i.Devices {
		ids = append(ids, d.ID)
	}
	printf(w, "devices     %s\n", strings.Join(ids, ", "))
	ours, all := i.libraries()
	printf(w, "libraries   %d of %d names lead programs here\n", ours, all)
	drivers := []string{}
	for _, d := range i.Drivers {
		if d.Used {
			drivers = append(drivers, d.API+" "+d.Name)
		}
	}
	printf(w, "drivers     %s used, %d found\n", orDash(strings.Join(drivers, ", ")), len(i.Drivers))
	printf(w, "environment %s set, %d that nothing reads, %s ignored\n", counted(len(i.Set), "variable"), len(i.Unknown),
		counted(len(i.Ignored), "value"))
}

// libraries counts the SONAMEs for which a program gets a file of AnyNPU, and all.
func (i *info) libraries() (ours, all int) {
	for _, a := range i.APIs {
		for _, l := range a.Libraries {
			all++
			if l.Ours {
				ours++
			}
		}
	}
	return ours, all
}

//go:embed info.html
var infoHTML string

var infoPage = template.Must(template.New("info").Funcs(template.FuncMap{
	"join": func(list []string) string { return strings.Join(list, ", ") },
	"text": func(l libraryInfo) string { return l.text() },
	"state": func(d driverInfo) string {
		if d.Used {
			return "used"
		}
		return string(d.Status)
	},
}).Parse(infoHTML + styleHTML))

// page writes an HTML page into a file.
func (i *info) page(file string) error {
	var page bytes.Buffer
	if err := infoPage.Execute(&page, i); err != nil {
		return err
	}
	return exit(exitRun, fault.As(fault.File, os.WriteFile(file, page.Bytes(), 0o666), "--html"))
}
