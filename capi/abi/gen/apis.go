package main

import (
	"fmt"
	"strings"
)

// apis is the list of APIs in core/spec, for those that import nothing of capi.
func (img *image) apis() string {
	var b strings.Builder
	fmt.Fprintf(&b, "// %s\n\npackage spec\n\n", banner)
	b.WriteString("// APIs are those of the table in capi/abi, in its order.\nvar APIs = []API{\n")
	for _, f := range img.facades {
		fmt.Fprintf(&b, "\t{Name: %q, ", f.Name)
		if f.Version != "" {
			fmt.Fprintf(&b, "Version: %q, ", f.Version)
		}
		b.WriteString("Functions: []string{\n")
		for _, r := range f.all {
			fmt.Fprintf(&b, "\t\t%q,\n", r.Name)
		}
		b.WriteString("\t}")
		if len(f.Facade.Stubs) > 0 {
			var names []string
			for _, l := range f.Facade.Stubs {
				names = append(names, fmt.Sprintf("%q", l.Soname))
			}
			fmt.Fprintf(&b, ", Sonames: []string{%s}", strings.Join(names, ", "))
		}
		b.WriteString("},\n")
	}
	b.WriteString("}\n")
	return b.String()
}
