package main

import (
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/anynpu/anynpu/conformance/suite"
)

// newAll runs the suites of every API together.
func newAll(suites []*suite.Suite) *cobra.Command {
	var o suite.Options
	var apis, only, libraries []string
	var page, text, junit, result, emit string
	names := namesOf(suites)
	c := &cobra.Command{
		Use:   "all",
		Short: "Judge libraries by all suites of their APIs, and report it on one page",
		Long: fmt.Sprintf(`Judge libraries by all suites of their APIs, and report it on one page.

APIs: %s. The library of an API is that of --library API=FILE, else of
its environment variable, which the help of its suites names, else this tree's
own in the folder BUILD (build).`, strings.Join(names, ", ")),
		Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			var err error
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
			if emit != "" {
				return emitC(chosen, o, emit, cmd)
			}
			d, err := suite.RunAll(chosen, o, cmd.OutOrStdout(), func(d *suite.Document) error {
				for _, to := range []struct {
					path  string
					write func(io.Writer) error
				}{{page, d.WriteHTML}, {text, d.WriteJSON}, {junit, d.WriteJUnit}, {result, verdictOf(d)}} {
					if to.path == "" {
						continue
					}
					if err := suite.Save(to.path, to.write); err != nil {
						return err
					}
				}
				return nil
			})
			if err != nil {
				return err
			}
			return verdict(d.Good, nil)
		},
	}
	f := c.Flags()
	f.StringArrayVar(&apis, "api", nil, "only suites of this `API`; can be repeated")
	f.StringArrayVar(&only, "suite", nil, "only suites of this `name`, such as rules; can be repeated")
	f.StringArrayVar(&libraries, "library", nil, "library under test, `API=FILE`; can be repeated")
	f.StringVar(&page, "html", "", "write the report as a page to this `file`")
	f.StringVar(&text, "json", "", "write the report as JSON to this `file`")
	f.StringVar(&junit, "junit", "", "write the report as JUnit XML to this `file`")
	f.StringVar(&result, "result", "", "write library, version, device and counts by rule and operator to this `file`")
	runFlags(c, &o, &emit)
	return c
}

// verdictOf writes what a vendor submits of a document.
func verdictOf(d *suite.Document) func(io.Writer) error {
	return func(w io.Writer) error { return d.Verdict(version).Write(w) }
}

// libraryOf is the library of an API by values of --library, API=FILE, else that of API.File.
func libraryOf(libraries, names []string) (func(*suite.API) string, error) {
	files := map[string]string{}
	for _, l := range libraries {
		name, file, ok := strings.Cut(l, "=")
		if !ok || !slices.Contains(names, name) || file == "" {
			return nil, fmt.Errorf("--library %s: want API=FILE, API one of %s", l, strings.Join(names, ", "))
		}
		files[name] = file
	}
	return func(a *suite.API) string {
		if file := files[a.Name]; file != "" {
			return file
		}
		return a.File(".")
	}, nil
}

// chosenOf are the suites that --suite names of the APIs that --api names, all without any.
func chosenOf(suites []*suite.Suite, apis, only []string) ([]*suite.Suite, error) {
	names := namesOf(suites)
	for _, name := range apis {
		if !slices.Contains(names, name) {
			return nil, fmt.Errorf("--api %s: want one of %s", name, strings.Join(names, ", "))
		}
	}
	chosen := slices.DeleteFunc(slices.Clone(suites), func(s *suite.Suite) bool {
		return len(apis) > 0 && !slices.Contains(apis, s.API.Name) || len(only) > 0 && !slices.Contains(only, s.Name)
	})
	if len(chosen) == 0 {
		return nil, fmt.Errorf("--suite %s: the API has none of that name", strings.Join(only, ", "))
	}
	return chosen, nil
}

// namesOf are the names of the APIs of suites.
func namesOf(suites []*suite.Suite) []string {
	var out []string
	for _, s := range suites {
		if !slices.Contains(out, s.API.Name) {
			out = append(out, s.API.Name)
		}
	}
	return out
}
