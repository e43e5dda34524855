package main

import (
	"errors"
	"fmt"
	"go/parser"
	"go/token"
	"os/exec"
	"regexp"
	"strings"
)

// inSource counts in the comments of a Go file.
func inSource(name, text string) (found []finding) {
	fset := token.NewFileSet()
	file, err := parser.ParseFile(fset, name, text, parser.ParseComments|parser.SkipObjectResolution)
	if err != nil {
		return []finding{{"unreadable", name, err.Error()}}
	}
	for _, group := range file.Comments {
		if strings.HasPrefix(group.List[0].Text, "//go:") || strings.HasPrefix(group.List[0].Text, "/*") {
			continue // directives, and C
		}
		at := fmt.Sprintf("%s:%d", name, fset.Position(group.Pos()).Line)
		found = append(found, inText(at, strings.Join(strings.Fields(group.Text()), " "), "")...)
	}
	return found
}

// since is the commit after which subjects are judged.
const since = "980e80ce9"

// inCommits counts subjects that are longer than 72 columns, have no component, or do not begin with a verb in the
// imperative. A clone that lacks the commit since is not judged.
func inCommits() (found []finding, err error) {
	out, err := exec.Command("git", "log", "--no-merges", "--format=%h %s", since+"..HEAD").Output()
	var failed *exec.ExitError
	if errors.As(err, &failed) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	for line := range strings.Lines(string(out)) {
		hash, subject, _ := strings.Cut(strings.TrimSpace(line), " ")
		if why := subjectFault(subject); why != "" {
			found = append(found, finding{"commit-subject", hash, subject + ": " + why})
		}
	}
	return found, nil
}

// notImperative are first words that are no verb in the imperative: forms of verbs, and articles.
var notImperative = regexp.MustCompile(`^([a-z]+(ed|ing)|[a-z]+[^s\W]s|a|an|the|is|are|no|new|more|some)$`)

// imperative are verbs that look like another form.
var imperative = map[string]bool{"embed": true, "feed": true, "need": true, "speed": true, "bring": true, "bias": true,
	"focus": true, "alias": true, "canvas": true, "seed": true, "shred": true, "string": true, "ping": true, "ring": true,
	"exceed": true, "proceed": true, "succeed": true}

// subjectFault says what is wrong with a commit's subject, "" if nothing is.
func subjectFault(subject string) string {
	if n := len([]rune(subject)); n > 72 {
		return fmt.Sprintf("%d columns, at most 72 may be", n)
	}
	_, summary, found := strings.Cut(subject, ": ")
	if !found {
		return "want COMPONENT: SUMMARY"
	}
	verb, _, _ := strings.Cut(summary, " ")
	verb = strings.ToLower(verb)
	if notImperative.MatchString(verb) && !imperative[verb] {
		return fmt.Sprintf("%q is no verb in the imperative", verb)
	}
	return ""
}
