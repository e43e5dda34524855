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
		fmt.Fprintf(&b, "Functions: %d", len(f.Rows))
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
