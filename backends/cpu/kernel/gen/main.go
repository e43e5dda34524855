// Command gen writes the assembly of package kernel. Run it in its own folder:
//
//	go run . -dir ..
//
// It writes a file z<operation>_<part>_<instruction set>_amd64.s for each part of an operation and each instruction
// set, and the declarations of the operation's functions to z<operation>_amd64.go. docs/kernels.md has the naming rule.
package main

import (
	"bytes"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/mmcloughlin/avo/ir"
	"github.com/mmcloughlin/avo/pass"
	"github.com/mmcloughlin/avo/printer"
)

// operations lists what the files are filled with. A part of an operation has a file of its own for each instruction
// set; one that an instruction set lacks adds nothing.
var operations = []operation{
	{"peak", []part{{"", peak}}},
	{"gemm", []part{
		{"x1", func(g *gen) { gemm(g, 1, false) }},
		{"x2", func(g *gen) { gemm(g, 2, false) }},
		{"x4", func(g *gen) { gemm(g, 4, false) }},
		{"indirect_x1", func(g *gen) { gemm(g, 1, true) }},
		{"indirect_x2", func(g *gen) { gemm(g, 2, true) }},
		{"indirect_x4", func(g *gen) { gemm(g, 4, true) }},
	}},
	{"unary", []part{{"", unary}, {"double", unaryDoubles}, {"half", halves(unary)},
		{"brain", brains(unary)}}},
	{"binary", []part{{"", binary}, {"double", binaryDoubles},
		{"half", halves(func(g *gen) { binary(g); halfQuotient(g) })}, {"brain", brains(binary)}}},
	{"compare", []part{{"", comparisons}}},
	{"integers", []part{{"", integerPairs}}},
	{"quotients", []part{{"", quotients}}},
	{"casts", []part{{"", casts}}},
	{"lines", []part{{"", lineSteps}}},
	{"overlap", []part{{"", overlap}}},
	{"maxpairs", []part{{"", maxPairs}}},
	{"folds", []part{{"", folds}}},
	{"moves", []part{{"", moves}}},
	{"split", []part{{"", splits}}},
	{"repeat", []part{{"", repeats}}},
	{"reduce", []part{{"", reduce}, {"half", halves(affine)}}},
	{"logsoftmax", []part{{"", logSoftmaxes}}},
	{"depthwise", []part{{"", depthwise}}},
	{"winograd", []part{{"", winograd}}},
	{"convert", []part{{"", convert}}},
	{"int8", []part{
		{"x1", func(g *gen) { int8gemm(g, 1, false) }},
		{"x2", func(g *gen) { int8gemm(g, 2, false) }},
		{"x3", func(g *gen) { int8gemm(g, 3, false) }},
		{"x4", func(g *gen) { int8gemm(g, 4, false) }},
		{"indirect_x1", func(g *gen) { int8gemm(g, 1, true) }},
		{"indirect_x2", func(g *gen) { int8gemm(g, 2, true) }},
		{"indirect_x3", func(g *gen) { int8gemm(g, 3, true) }},
		{"indirect_x4", func(g *gen) { int8gemm(g, 4, true) }},
	}},
	{"int8depthwise", []part{{"", int8depthwise}}},
	{"int8elements", []part{{"", int8elements}}},
	{"image", []part{{"", image}}},
	{"lookup", []part{{"", lookup}}},
	{"codeblocks", []part{{"", codeBlocks}}},
	{"halfrows", []part{{"", halfRows}}},
	{"blockdots", []part{{"", blockDots}}},
}

type operation struct {
	name  string
	parts []part
}

type part struct {
	name string
	fill func(*gen)
}

func main() {
	dir := flag.String("dir", "..", "folder of package kernel")
	flag.Parse()
	for _, o := range operations {
		if err := o.write(*dir); err != nil {
			fmt.Fprintf(os.Stderr, "gen: %s: %v\n", o.name, err)
			os.Exit(1)
		}
	}
}

// write makes the files of an operation.
func (o *operation) write(dir string) error {
	declared := &ir.File{}
	for _, s := range isas {
		for _, p := range o.parts {
			f, err := p.compile(s)
			if err != nil {
				return err
			}
			if f == nil {
				continue
			}
			words := slices.DeleteFunc([]string{"z" + o.name, p.name, strings.ToLower(s.name), "amd64.s"},
				func(w string) bool { return w == "" })
			if err := write(filepath.Join(dir, strings.Join(words, "_")), printer.NewGoAsm(config), f); err != nil {
				return err
			}
			declared.Constraints = f.Constraints
			declared.Sections = append(declared.Sections, f.Sections...)
		}
	}
	return write(filepath.Join(dir, "z"+o.name+"_amd64.go"), printer.NewStubs(config), declared)
}

// compile makes the functions of a part, nil when there are none.
func (p *part) compile(s *isa) (*ir.File, error) {
	all := p.weavings(s)
	g := newGen(s)
	p.fill(g)
	f, err := g.Result()
	if err != nil || len(f.Functions()) == 0 {
		return nil, err
	}
	for _, fn := range f.Functions() {
		g.weave(fn, all[fn.Name])
	}
	if err := pass.Compile.Execute(f); err != nil {
		return nil, err
	}
	if !s.wide() && beyond(f) {
		return nil, fmt.Errorf("%s needs more than 16 vectors", p.name)
	}
	return f, nil
}

var config = printer.Config{Argv: []string{"go", "run", ".", "(in kernel/gen)"}, Pkg: "kernel"}

func write(file string, p printer.Printer, f *ir.File) error {
	text, err := p.Print(f)
	if err != nil {
		return err
	}
	if before, err := os.ReadFile(file); err == nil && bytes.Equal(before, text) {
		return nil // it keeps its time: nothing that is made of it is built again
	}
	return os.WriteFile(file, text, 0o644)
}
