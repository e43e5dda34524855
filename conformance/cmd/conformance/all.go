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
	var apis, libraries []string
	var page, text, junit, emit string
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
			files := map[string]string{}
			for _, l := range libraries {
				name, file, ok := strings.Cut(l, "=")
				if !ok || !slices.Contains(names, name) || file == "" {
					return fmt.Errorf("--library %s: want API=FILE, API one of %s", l, strings.Join(names, ", "))
				}
				files[name] = file
			}
			o.Library = func(a *suite.API) string {
				if file := files[a.Name]; file != "" {
					return file
				}
				return a.File(".")
			}
			for _, name := range apis {
				if !slices.Contains(names, name) {
					return fmt.Errorf("--api %s: want one of %s", name, strings.Join(names, ", "))
				}
			}
			chosen := slices.DeleteFunc(slices.Clone(suites), func(s *suite.Suite) bool {
				return len(apis) > 0 && !slices.Contains(apis, s.API.Name)
			})
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
				}{{page, d.WriteHTML}, {text, d.WriteJSON}, {junit, d.WriteJUnit}} {
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
	f.StringArrayVar(&libraries, "library", nil, "library under test, `API=FILE`; can be repeated")
	f.StringVar(&page, "html", "", "write the report as a page to this `file`")
	f.StringVar(&text, "json", "", "write the report as JSON to this `file`")
	f.StringVar(&junit, "junit", "", "write the report as JUnit XML to this `file`")
	runFlags(c, &o, &emit)
	return c
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
