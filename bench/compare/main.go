// Command compare measures this library beside other engines: the same model files, the same inputs, one process per
// engine, by turns. It prints a line per network and number of threads, and writes the figures as JSON and as an HTML
// page.
//
// Exit codes: 0, 1 when this library or ONNX Runtime failed or their outputs differ, 2 usage, 3 nothing could be
// measured.
package main

import (
	"flag"
	"fmt"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
)

func main() {
	var c comparison
	models := flag.String("models", "", "`folder` that bench/gen_bench_models.py has filled")
	run := flag.String("run", "*", "networks to measure, `patterns` separated by commas")
	threads := flag.String("threads", "1,2", "numbers of threads, `list` separated by commas")
	out := flag.String("out", ".", "`folder` for bench.json and bench.html")
	anynpu := flag.String("anynpu", "", "`program` of this library's engine")
	ort := flag.String("ort", "", "`program` of ONNX Runtime's engine")
	library := flag.String("ortlib", "", "libonnxruntime `file`")
	peers := flag.String("peers", "", "more engines, a `list` of NAME=COMMAND separated by commas")
	flag.Float64Var(&c.settings.Seconds, "seconds", 1, "timed seconds per engine and round")
	flag.IntVar(&c.settings.Rounds, "rounds", 3, "rounds; each runs all engines in turn")
	flag.IntVar(&c.settings.Runs, "runs", 3, "timed runs per engine and round at least")
	flag.Parse()
	c.engines = []engine{{"anynpu", []string{*anynpu}}, {"onnxruntime", []string{*ort, *library}}}
	err := c.check(flag.Args(), *threads)
	if err == nil {
		err = c.addPeers(*peers)
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, "compare:", err)
		os.Exit(2)
	}
	r, err := c.compare(*models, strings.Split(*run, ","), os.Stdout)
	if err == nil {
		err = r.write(*out)
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, "compare:", err)
		os.Exit(3)
	}
	fmt.Printf("\n%s\n%s\n", filepath.Join(*out, "bench.json"), filepath.Join(*out, "bench.html"))
	if n := r.failures(); n > 0 {
		fmt.Fprintf(os.Stderr, "compare: %d of %d comparisons failed\n", n, len(r.Results))
		os.Exit(1)
	}
}

// check looks at the flags and reads the list of thread counts.
func (c *comparison) check(args []string, threads string) error {
	if len(args) > 0 {
		return fmt.Errorf("unexpected argument %q", args[0])
	}
	s := &c.settings
	if s.Seconds < 0 || s.Rounds < 1 || s.Runs < 1 {
		return fmt.Errorf("-seconds %g -rounds %d -runs %d: want 0, 1, 1 or more", s.Seconds, s.Rounds, s.Runs)
	}
	for _, t := range strings.Split(threads, ",") {
		n, err := strconv.Atoi(t)
		if err != nil || n < 1 {
			return fmt.Errorf("-threads %q: want numbers of 1 or more, separated by commas", threads)
		}
		s.Threads = append(s.Threads, n)
	}
	return nil
}

// addPeers adds the engines of a list of NAME=COMMAND; a command is divided at spaces.
func (c *comparison) addPeers(list string) error {
	for item := range strings.SplitSeq(list, ",") {
		if strings.TrimSpace(item) == "" {
			continue
		}
		name, command, _ := strings.Cut(strings.TrimSpace(item), "=")
		words := strings.Fields(command)
		again := slices.ContainsFunc(c.engines, func(e engine) bool { return e.name == name })
		if name == "" || strings.Contains(name, "/") || len(words) == 0 || again {
			return fmt.Errorf("-peers %q: want NAME=COMMAND with a name of its own", item)
		}
		c.engines = append(c.engines, engine{name, words})
	}
	return nil
}

// matches reports whether name is one of the patterns.
func matches(name string, patterns []string) (bool, error) {
	for _, p := range patterns {
		if ok, err := path.Match(p, name); ok || err != nil {
			return ok, err
		}
	}
	return false, nil
}
