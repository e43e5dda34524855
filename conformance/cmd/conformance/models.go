package main

import (
	"encoding/json"
	"fmt"
	"io"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/anynpu/anynpu/conformance/suite"
	"github.com/anynpu/anynpu/conformance/suite/models"
)

// newModels writes the models that a vendor converts.
func newModels(suites []*suite.Suite) *cobra.Command {
	o := suite.Options{Long: true}
	var apis, only, libraries []string
	var lists string
	suites = slices.DeleteFunc(slices.Clone(suites), func(s *suite.Suite) bool { return s.API.Models == nil })
	names := namesOf(suites)
	c := &cobra.Command{
		Use:   "models --out DIR",
		Short: "Write the ONNX models that cases need, for a vendor's converter",
		Long: fmt.Sprintf(`Write the ONNX models that the cases of an API need to DIR/API, each with a
sheet NAME.json that says what its converter has to be told, and which cases
need it. The cases run with AnyNPU's own library, to see which models they use.

Put NAME.rknn, NAME.bin or NAME.hbm beside NAME.onnx: --models DIR then judges a
library that loads no ONNX with these.

APIs: %s.`, strings.Join(names, ", ")),
		Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			if o.SaveModels == "" {
				return fmt.Errorf("--out: want the folder for the models")
			}
			var err error
			if o.SaveModels, err = filepath.Abs(o.SaveModels); err != nil {
				return err
			}
			if o.Library, err = libraryOf(libraries, names); err != nil {
				return err
			}
			chosen, err := chosenOf(suites, apis, only)
			if err != nil {
				return err
			}
			stop, err := prepare(cmd, &o)
			if err != nil {
				return err
			}
			defer stop()
			d, err := suite.RunAll(chosen, o, io.Discard, func(*suite.Document) error { return nil })
			if err != nil {
				return err
			}
			for _, a := range d.APIs {
				if err := handedOver(a); err != nil {
					return err
				}
				if err := writeSheets(a, o.SaveModels, cmd.OutOrStdout()); err != nil {
					return err
				}
				if lists == "" {
					continue
				}
				if err := writeFree(a, filepath.Join(lists, a.Name, "zfree.txt")); err != nil {
					return err
				}
			}
			return nil
		},
	}
	f := c.Flags()
	f.StringVar(&o.SaveModels, "out", "", "`folder` for the models, which may exist")
	f.StringArrayVar(&apis, "api", nil, "only models of this `API`; can be repeated")
	f.StringArrayVar(&only, "suite", nil, "only models of suites of this `name`, such as rules; can be repeated")
	f.StringArrayVar(&libraries, "library", nil, "AnyNPU's library, `API=FILE`; can be repeated")
	f.StringVar(&o.Filter, "run", "", "only models of cases whose name contains this `text`")
	f.IntVar(&o.Workers, "workers", 2, "processes at a time")
	f.StringVar(&lists, "free", "", "also write the lists of cases that need no model below this `folder`")
	hide(c, "free")
	limitFlags(c, &o)
	return c
}

// handedOver returns an error if no case of an API has handed a model over, as when the library cannot be loaded.
func handedOver(a *suite.APIReport) error {
	first := "its cases need none"
	for _, s := range a.Suites {
		for _, rep := range s.Reports {
			for _, x := range rep.Results {
				switch {
				case len(x.Models) > 0:
					return nil
				case x.Status != suite.Pass && x.Status != suite.Skip && first == "its cases need none":
					first = fmt.Sprintf("%s %s: %s", s.Name, x.ID, x.Message)
				}
			}
		}
	}
	return fmt.Errorf("%s: %s: no model was handed over: %s", a.Name, a.Library, first)
}

// writeSheets writes a sheet for each model that the cases of an API have handed over.
func writeSheets(a *suite.APIReport, dir string, w io.Writer) error {
	cases, skipped := map[string][]string{}, 0
	for _, s := range a.Suites {
		for _, rep := range s.Reports {
			for _, x := range rep.Results {
				if x.Status != suite.Pass {
					skipped++
				}
				for _, name := range x.Models {
					if id := s.Name + " " + x.ID; !slices.Contains(cases[name], id) {
						cases[name] = append(cases[name], id)
					}
				}
			}
		}
	}
	converter := converterOf(a.Name)
	reasons := map[string]int{}
	needed := map[string]bool{}
	for _, name := range slices.Sorted(maps.Keys(cases)) {
		path := filepath.Join(dir, a.Name, name)
		data, err := os.ReadFile(path + ".onnx")
		if err != nil {
			return err
		}
		sheet, err := converter.Sheet(a.Name, data, cases[name])
		if err != nil {
			return fmt.Errorf("%s.onnx: %w", path, err)
		}
		if sheet.Reason != "" {
			reasons[sheet.Reason]++
		}
		for _, c := range cases[name] {
			needed[c] = true
		}
		err = suite.Save(path+".json", func(w io.Writer) error {
			e := json.NewEncoder(w)
			e.SetIndent("", "  ")
			return e.Encode(sheet)
		})
		if err != nil {
			return err
		}
	}
	beyond := 0
	for _, n := range reasons {
		beyond += n
	}
	fmt.Fprintf(w, "%s: %d models for %d cases in %s; no converter makes %d of them, as their sheets say\n", a.Name,
		len(cases), len(needed), filepath.Join(dir, a.Name), beyond)
	if skipped > 0 {
		fmt.Fprintf(w, "%s: %d cases did not pass: models that they would have used after that are missing\n", a.Name,
			skipped)
	}
	return nil
}

// converterOf describes the converter of an API's vendor.
func converterOf(name string) *models.Converter {
	for _, s := range suites() {
		if s.API.Name == name {
			return s.API.Models.Converter
		}
	}
	return nil
}

// writeFree writes the list of an API's cases that need no model, prefixes in the place of cases that all begin so.
func writeFree(a *suite.APIReport, path string) error {
	needs := map[string]bool{}
	var order []string
	for _, s := range a.Suites {
		for _, rep := range s.Reports {
			for _, x := range rep.Results {
				id := s.Name + " " + x.ID
				if _, seen := needs[id]; !seen {
					order = append(order, id)
				}
				needs[id] = needs[id] || x.NeedsModel || x.Status != suite.Pass
			}
		}
	}
	mixed := map[string]bool{} // prefixes with a case that needs a model
	for _, id := range order {
		for i, c := range id {
			if c == '/' && needs[id] {
				mixed[id[:i]] = true
			}
		}
	}
	var b strings.Builder
	b.WriteString("# Code generated by conformance models --free conformance; DO NOT EDIT.\n")
	written := map[string]bool{}
	for _, id := range order {
		if needs[id] {
			continue
		}
		line := id
		for i, c := range id {
			if c == '/' && !mixed[id[:i]] {
				line = id[:i] + "/*"
				break
			}
		}
		if !written[line] {
			written[line] = true
			fmt.Fprintln(&b, line)
		}
	}
	return os.WriteFile(path, []byte(b.String()), 0o666)
}
