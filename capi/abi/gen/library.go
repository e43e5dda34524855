package main

import (
	"cmp"
	"fmt"
	"slices"
	"sort"
	"strings"

	"github.com/anynpu/anynpu/capi/abi"
)

// inStub says whether a stub library of the function's façade has it.
func (fn *function) inStub(l abi.Library) bool {
	return fn.Stubs == nil || slices.Contains(fn.Stubs, l.Soname)
}

// stubbed says whether any stub library jumps to fn.
func (img *image) stubbed(fn *function) bool {
	return slices.ContainsFunc(fn.facade.Facade.Stubs, fn.inStub)
}

// libraries writes, for the core library and every stub library, the version script and the list of names it exports,
// and the stubs' assembly.
func (img *image) libraries() {
	var core []string
	for _, fn := range img.funcs {
		if fn.older != nil {
			continue
		}
		core = append(core, fn.Name)
		if img.stubbed(fn) {
			core = append(core, entryPrefix+fn.Name)
		}
	}
	img.library("capi/zcore", "", core)
	names := map[abi.Library][]string{} // generations of an API can have libraries in common
	for _, f := range img.facades {
		for _, l := range f.Facade.Stubs {
			for _, fn := range f.funcs {
				if fn.inStub(l) && fn.older == nil {
					names[l] = append(names[l], fn.Name)
				}
			}
		}
	}
	for l, names := range names {
		base := "capi/stub/z" + strings.TrimSuffix(l.Soname, ".so")
		img.library(base, l.Version, names)
		img.file(base+"_amd64.S", stub(amd64, l, names))
		img.file(base+"_arm64.S", stub(arm64, l, names))
	}
}

func (img *image) library(base, version string, names []string) {
	sort.Strings(names)
	var b strings.Builder
	fmt.Fprintf(&b, "/* %s */\n%s\n", banner, strings.TrimSpace(version+" {"))
	b.WriteString("global:\n")
	for _, n := range names {
		fmt.Fprintf(&b, "\t%s;\n", n)
	}
	b.WriteString("local:\n\t*;\n};\n")
	img.file(base+".map", b.String())
	img.file(base+".symbols", "# "+banner+"\n"+strings.Join(names, "\n")+"\n")
}

func stub(a arch, l abi.Library, names []string) string {
	var b strings.Builder
	fmt.Fprintf(&b, asmHead, banner, fmt.Sprintf("/* %s: every function jumps to its namesake in %s, arguments and "+
		"stack untouched. */", l.Soname, coreSoname))
	for _, n := range names {
		fmt.Fprintf(&b, "\n\t.p2align 4\n\t.globl %[1]s\n\t.type %[1]s, %%function\n%[1]s:\n", n)
		fmt.Fprintf(&b, a.stub, entryPrefix+n)
		fmt.Fprintf(&b, "\t.size %[1]s, .-%[1]s\n", n)
	}
	b.WriteString(mark)
	if a.name == "arm64" {
		b.WriteString(padded)
	}
	b.WriteString("\n\t.section .note.GNU-stack, \"\", %progbits\n")
	text := b.String()
	if a.name == "amd64" {
		text = strings.NewReplacer("%function", "@function", "%progbits", "@progbits", "%note", "@note").Replace(text)
	}
	return text
}

// support writes the table of every function and whether it is implemented.
func (img *image) support() string {
	var b strings.Builder
	fmt.Fprintf(&b, "<!-- %s -->\n\n# Supported functions\n\n", banner)
	b.WriteString("Every function is in `" + coreSoname + "`.\n")
	for _, f := range img.facades {
		fmt.Fprintf(&b, "\n## %s\n\n", f.Name)
		var others []string
		for _, l := range f.Facade.Stubs {
			others = append(others, "`"+l.Soname+"`")
		}
		if len(others) > 0 {
			fmt.Fprintf(&b, "Also under the name %s. ", strings.Join(others, ", "))
		}
		fmt.Fprintf(&b, "%d of %d functions. %s\n\n| function | since | implemented |\n|---|---|---|\n", len(f.funcs),
			len(f.all), cmp.Or(f.Facade.Since, "`since` is the version of the API that introduced the function."))
		for _, fn := range f.all {
			have := "no"
			if slices.ContainsFunc(f.funcs, func(g *function) bool { return g.Func == fn }) {
				have = "yes"
			}
			fmt.Fprintf(&b, "| `%s` | %d | %s |\n", fn.Name, fn.Since, have)
		}
	}
	return b.String()
}
