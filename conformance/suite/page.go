package suite

import (
	_ "embed"
	"fmt"
	"html/template"
	"io"
	"slices"
)

//go:embed page.html
var pageText string

var page = template.Must(template.New("page").Funcs(template.FuncMap{
	"seconds": func(s float64) string { return fmt.Sprintf("%.1f s", s) },
	"plural": func(n int, one string) string {
		if n == 1 {
			return fmt.Sprintf("%d %s", n, one)
		}
		return fmt.Sprintf("%d %ss", n, one)
	},
	"share": func(n int, t *Tally) string { return fmt.Sprintf("%.2f%%", 100*float64(n)/float64(max(t.Cases, 1))) },
}).Parse(pageText))

// WriteHTML writes the document as a page that needs no other file.
func (d *Document) WriteHTML(w io.Writer) error { return page.Execute(w, d) }

// Objects are the objects of a part, each with a tally of all its types and those of each.
func (a *APIReport) Objects(part string) []*Object {
	var out []*Object
	for _, t := range a.Places {
		if t.Part != part {
			continue
		}
		i := slices.IndexFunc(out, func(o *Object) bool { return o.All.Object == t.Object })
		if i < 0 {
			i = len(out)
			out = append(out, &Object{All: Tally{Place: Place{Part: part, Object: t.Object}}})
		}
		o := out[i]
		o.All.Cases, o.All.Passed, o.All.Failed = o.All.Cases+t.Cases, o.All.Passed+t.Passed, o.All.Failed+t.Failed
		o.All.Skipped += t.Skipped
		if t.Type != "" {
			o.Types = append(o.Types, t)
		}
	}
	return out
}

// Object is what came of the cases of an object or operator.
type Object struct {
	All   Tally
	Types []*Tally
}
