package messages

import (
	_ "embed"
	"fmt"
	"regexp"
	"strings"

	"github.com/anynpu/anynpu/core/logging"
)

// A Class is an id of messages that have none of their own: those of one kind of error, or of one exit code.
type Class struct{ ID, Cause, Remedy string }

//go:embed classes.txt
var classesText string

//go:embed kinds.txt
var kindsText string

//go:embed remedies.txt
var remediesText string

// Classes returns the ids of messages without an own one: of kinds of errors, of exit codes, and of a package's errors
// of one kind.
func Classes() (list []Class, err error) {
	for _, f := range fields(classesText + kindsText) {
		if len(f) != 3 {
			return nil, fmt.Errorf("classes.txt, kinds.txt: %q: want ID, cause and remedy", strings.Join(f, " | "))
		}
		list = append(list, Class{f[0], f[1], f[2]})
	}
	return list, nil
}

// remedies are those of messages whose text has none, by id.
func remedies() (map[string]string, error) {
	m := map[string]string{}
	for _, f := range fields(remediesText) {
		if len(f) != 2 || m[f[0]] != "" {
			return nil, fmt.Errorf("remedies.txt: %q: want an ID and its remedy, once", strings.Join(f, " | "))
		}
		m[f[0]] = f[1]
	}
	return m, nil
}

// fields are the lines of a text without comments, each split at " | ".
func fields(text string) (list [][]string) {
	for line := range strings.Lines(text) {
		if line = strings.TrimSpace(line); line != "" && !strings.HasPrefix(line, "#") {
			list = append(list, strings.Split(line, " | "))
		}
	}
	return list
}

// shapes are remedies by what a message says, for those that do not say what to do and have no own one. The first that
// matches holds.
var shapes = []struct {
	pattern *regexp.Regexp
	remedy  string
}{
	{regexp.MustCompile(`no memory of|that was destroyed|was freed`),
		"Pass memory that the library made and that still exists."},
	{regexp.MustCompile(`ignored$`), "Correct or remove the value that the line names."},
	{regexp.MustCompile(`NULL`), "Pass a pointer that is not NULL."},
	{regexp.MustCompile(`the model has|indices begin at 0|the task has`),
		"Use an index or a number that the model has."},
	{regexp.MustCompile(`finished (and|or|:)|is finished|already|is being|is running|was called before|in use`),
		"Make the call at another time: the line names the obstacle."},
	{regexp.MustCompile(`damaged|cut short|lacks section|checksum|compiled model|another (build|device|model)`),
		"Write the file again with this library; a cache is written anew by itself."},
	{regexp.MustCompile(`not support|does not compute|no such|cannot|only `),
		"Change the model or the call as the line suggests; anynpu check lists the operators of each device."},
	{regexp.MustCompile(`bytes|takes|elements|shape|rank|dimension|size`),
		"Pass the number or shape that the line names."},
	{regexp.MustCompile(`type|layout|fmt|format`), "Use a type or layout that the line names."},
	{regexp.MustCompile(`%[dvq#]`), "Pass a value that the line names as allowed."},
}

// remedyOf is what to do about a message.
func remedyOf(m Message, own map[string]string) (cause, remedy string) {
	cause, remedy = logging.Remedy(m.Text)
	switch {
	case own[m.ID] != "":
		return m.Text, own[m.ID]
	case remedy != "":
		return cause, sentence(remedy)
	}
	for _, s := range shapes {
		if s.pattern.MatchString(m.Text) {
			return m.Text, s.remedy
		}
	}
	return m.Text, ""
}

// sentence makes a clause a sentence: what a message wants is to be given.
func sentence(clause string) string {
	if rest, ok := strings.CutPrefix(clause, "want "); ok {
		clause = "Give " + rest
	}
	return strings.ToUpper(clause[:1]) + clause[1:] + "."
}
