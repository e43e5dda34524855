// Command language counts what the rules of English for this repository forbid, and fails if a count is above its
// ceiling in ceilings.txt. It reads the tracked files of the repository in whose root it runs. It is a program because
// Vale, which checks pages, knows no doc comments, no ceilings, and would be one more tool to fetch.
//
//	go run ./scripts/language            counts and compares
//	go run ./scripts/language -list RULE lists what a rule counts
//	go run ./scripts/language -lower     writes lower ceilings where counts have fallen
package main

import (
	_ "embed"
	"flag"
	"fmt"
	"io"
	"os"
	"os/exec"
	"slices"
	"strconv"
	"strings"
)

// ceilingsFile holds the most of each rule, a line "RULE NUMBER" each.
const ceilingsFile = "scripts/language/ceilings.txt"

// finding is a place that a rule counts.
type finding struct{ rule, at, text string }

func main() {
	list := flag.String("list", "", "list what `RULE` counts")
	lower := flag.Bool("lower", false, "write lower ceilings")
	flag.Parse()
	if err := run(os.Stdout, *list, *lower); err != nil {
		fmt.Fprintln(os.Stderr, "language:", err)
		os.Exit(1)
	}
}

// run counts, and lists or compares.
func run(w io.Writer, list string, lower bool) error {
	files, err := exec.Command("git", "ls-files", "-z").Output()
	if err != nil {
		return fmt.Errorf("git ls-files: %w", err)
	}
	var found []finding
	for name := range strings.SplitSeq(strings.TrimSuffix(string(files), "\x00"), "\x00") {
		if !isPage(name) && !isSource(name) {
			continue
		}
		text, err := os.ReadFile(name)
		if os.IsNotExist(err) { // deleted, and not yet committed
			continue
		}
		if err != nil {
			return err
		}
		if isPage(name) {
			found = append(found, inPage(name, string(text))...)
		} else {
			found = append(found, inSource(name, string(text))...)
		}
	}
	commits, err := inCommits()
	if err != nil {
		return err
	}
	found = append(found, commits...)
	if list != "" {
		for _, f := range found {
			if f.rule == list {
				fmt.Fprintf(w, "%s: %s\n", f.at, f.text)
			}
		}
		return nil
	}
	ceilings, err := os.ReadFile(ceilingsFile)
	if err != nil {
		return err
	}
	text, err := compare(w, string(ceilings), found)
	if err != nil || !lower {
		return err
	}
	return os.WriteFile(ceilingsFile, []byte(text), 0o666)
}

// compare prints the count of each rule and fails for those above their ceilings. The text is that of the ceilings,
// each as low as its count.
func compare(w io.Writer, ceilings string, found []finding) (string, error) {
	counts := map[string]int{}
	for _, f := range found {
		counts[f.rule]++
	}
	var out strings.Builder
	above, known := []string{}, []string{}
	for line := range strings.Lines(ceilings) {
		rule, number, _ := strings.Cut(strings.TrimSpace(line), " ")
		most, err := strconv.Atoi(number)
		if err != nil {
			return "", fmt.Errorf("%s: %q: want RULE NUMBER", ceilingsFile, line)
		}
		known = append(known, rule)
		n := counts[rule]
		fmt.Fprintf(w, "%-16s %5d of at most %d\n", rule, n, most)
		if n > most {
			above = append(above, fmt.Sprintf("%s: %d, at most %d may be: go run ./scripts/language -list %s", rule, n, most,
				rule))
		}
		fmt.Fprintf(&out, "%s %d\n", rule, min(n, most))
	}
	for rule := range counts {
		if !slices.Contains(known, rule) {
			above = append(above, fmt.Sprintf("%s: %d, and %s has no ceiling for it", rule, counts[rule], ceilingsFile))
		}
	}
	if len(above) > 0 {
		slices.Sort(above)
		return "", fmt.Errorf("%s", strings.Join(above, "\n"))
	}
	return out.String(), nil
}
