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
		Use:   "info [PROGRAM]",
		Short: "Tell what computes here, and which file a program gets for each vendor's library",
		Long: `info prints the version, the processor with the kernels that it has, the
devices with their features, the APIs with the file that a program started here
would get for each SONAME, the vendors' drivers, and the environment variables in
force. A variable
whose name begins with ANYNPU_ and that nothing reads is named with the nearest
one that there is.

A program with an RPATH or RUNPATH of its own may get another file.

With the file of a PROGRAM it prints which generation of Horizon's hbDNN that was
built for, as the functions that it imports and the structs that it describes say,
and what ANYNPU_HBDNN_ABI has to be.`,
		Example: "  anynpu info\n  anynpu info --summary\n  anynpu info --json\n  anynpu info ./detector",
		Args: func(_ *cobra.Command, args []string) error {
			if len(args) > 1 {
				return usage("info takes one PROGRAM at most [tool-info-one-program]")
			}
			return nil
		},
		RunE: func(_ *cobra.Command, args []string) error {
			if len(args) == 1 {
				if short || html != "" {
					return usage("--summary and --html go without a PROGRAM [tool-info-program-alone]")
				}
				p, err := readHB(args[0])
				if err != nil {
					return usage("%s: no program that can be read: %v [tool-info-unreadable]", args[0], err)
				}
				if asJSON {
					return writeJSON(stdout, p)
				}
				p.print(stdout)
				return nil
			}
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

// print writes what the file of a program says.
func (p *hbProgram) print(w io.Writer) {
	generation := map[string]string{"hbdnn": "hbDNN, the older generation", "hbucp": "UCP",
		"": "none: no function of hbDNN is imported"}[p.Generation]
	printf(w, "program     %s\n", shown(p.File))
	printf(w, "generation  %s\n", generation)
	if len(p.Imports) > 0 {
		printf(w, "imports     %d: %s\n", len(p.Imports), shown(strings.Join(p.Imports, " ")))
	}
	if p.Properties > 0 {
		printf(w, "structs     hbDNNTensorProperties has %d bytes\n", p.Properties)
	}
	if p.ABI != "" {
		printf(w, "set         %s=%s\n", abiVariable, p.ABI)
	}
	if p.Note != "" {
		printf(w, "note        it %s\n", p.Note)
	}
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
