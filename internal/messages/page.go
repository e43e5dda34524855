package messages

import (
	"fmt"
	"regexp"
	"strings"
)

// titles are the parts of the page, by the first word of ids.
var titles = []struct{ prefix, title string }{
	{"argument", "Any function: arguments"}, {"handle", "Any function: handles"}, {"boundary", "The library itself"},
	{"anynpu", "`anynpu.h`"}, {"ohnn", "OpenHarmony (OH_NN)"}, {"rknn", "Rockchip (rknn)"},
	{"hb", "Horizon, both generations"}, {"hbdnn", "Horizon (hbDNN)"}, {"hbucp", "Horizon (UCP)"},
	{"nnapi", "Android (NNAPI)"}, {"device", "Devices and drivers"}, {"driver", "Drivers of other libraries"},
	{"remote", "Servers"}, {"onnxruntime", "ONNX Runtime"}, {"model", "Models and their metadata"},
	{"metadata", "Entries of metadata"}, {"onnx", "ONNX models"}, {"op", "Operators"}, {"graph", "Graphs"},
	{"compile", "Compilation"}, {"cache", "Caches"}, {"memory", "Memory"}, {"matrix", "Products of matrices"},
	{"run", "Runs"}, {"cpu", "The CPU"}, {"ref", "The reference on the CPU"}, {"tool", "The tool `anynpu`"},
	{"core", "Everything else"},
}

const head = `# Messages

Each line that refuses a call, and each warning, ends with an id in brackets:

` + "```text" + `
rknn: call failed function=rknn_inputs_set result=-5 error="inputs[0].size is 1224: 612 elements ..." [rknn-inputs-size]
` + "```" + `

This page lists the ids with cause and remedy. A word between ‹ and › stands for a value of the call. An id stays when
its sentence changes. Messages about a model, a file or a device share an id: that of the part of the library and of
the kind of error, such as ` + "`onnx-lower-unsupported`" +
	`. ` + "`make generate`" + ` writes the page from the source.
`

// Page is docs/messages.md.
func Page(s *Source) (string, error) {
	own, err := remedies()
	if err != nil {
		return "", err
	}
	classes, err := Classes()
	if err != nil {
		return "", err
	}
	known := map[string]bool{}
	lacking := []string{}
	var b strings.Builder
	b.WriteString(head)
	for _, t := range titles {
		rows := []string{}
		for _, m := range s.Messages {
			if first, _, _ := strings.Cut(m.ID, "-"); first != t.prefix {
				continue
			}
			known[m.ID] = true
			cause, remedy := remedyOf(m, own)
			if remedy == "" {
				lacking = append(lacking, fmt.Sprintf("%s: id %s: %q does not say what to do", m.At, m.ID, m.Text))
			}
			rows = append(rows, row(m.ID, shown(cause), shown(remedy)))
		}
		for _, c := range classes {
			if first, _, _ := strings.Cut(c.ID, "-"); first == t.prefix && !known[c.ID] {
				known[c.ID] = true
				rows = append(rows, row(c.ID, c.Cause, c.Remedy))
			}
		}
		if len(rows) > 0 {
			fmt.Fprintf(&b, "\n## %s\n\n| id | cause | remedy |\n|---|---|---|\n%s", t.title, strings.Join(rows, ""))
		}
	}
	for _, m := range s.Messages {
		if !known[m.ID] {
			return "", fmt.Errorf("%s: id %s belongs to no part of the page", m.At, m.ID)
		}
	}
	if len(lacking) > 0 {
		return "", fmt.Errorf("internal/messages/remedies.txt needs the remedies of these messages:\n%s",
			strings.Join(lacking, "\n"))
	}
	for id := range own {
		if !known[id] {
			return "", fmt.Errorf("remedies.txt: there is no message %s", id)
		}
	}
	return b.String(), nil
}

func row(id, cause, remedy string) string {
	return fmt.Sprintf("| `%s` | %s | %s |\n", id, strings.ReplaceAll(cause, "|", `\|`),
		strings.ReplaceAll(remedy, "|", `\|`))
}

var verbs = regexp.MustCompile(`%[-+# 0]*[0-9.]*(?:\[\d\])?[a-zA-Z]|%%`)

// shown is a format as text: verbs are names of what stands there, and what Markdown would read is escaped.
func shown(format string) string {
	text := verbs.ReplaceAllStringFunc(format, func(v string) string {
		switch v[len(v)-1] {
		case '%':
			return "%"
		case 'd', 'x', 'g', 'f', 'p':
			return "‹n›"
		case 'q':
			return "\"‹name›\""
		case 'w':
			return "‹error›"
		}
		return "‹value›"
	})
	return strings.NewReplacer("<", "&lt;", ">", "&gt;", "*", `\*`, "_", `\_`, "[", `\[`, "]", `\]`).Replace(text)
}
