// Command gen writes the assembly of package kernel. Run it in its own folder:
//
//	go run . -dir ..
//
// It writes z<group>_amd64.s and z<group>_amd64.go for each group of kernels.
package main

import (
	"flag"
	"fmt"
	"os"
	"path/filepath"

	"github.com/mmcloughlin/avo/pass"
	"github.com/mmcloughlin/avo/printer"
)

// groups lists the files and what fills them.
var groups = []struct {
	name string
	fill func(*gen)
}{
	{"peak", peak},
	{"gemm", gemm},
	{"unary", unary},
	{"binary", binary},
	{"reduce", reduce},
	{"depthwise", depthwise},
	{"winograd", winograd},
	{"convert", convert},
	{"int8", int8gemm},
	{"int8depthwise", int8depthwise},
	{"image", image},
}

func main() {
	dir := flag.String("dir", "..", "folder of package kernel")
	flag.Parse()
	for _, gr := range groups {
		if err := write(*dir, gr.name, gr.fill); err != nil {
			fmt.Fprintf(os.Stderr, "gen: %s: %v\n", gr.name, err)
			os.Exit(1)
		}
	}
}

func write(dir, name string, fill func(*gen)) error {
	g := newGen()
	for _, s := range isas {
		g.isa = s
		fill(g)
	}
	f, err := g.Result()
	if err != nil {
		return err
	}
	if err := pass.Compile.Execute(f); err != nil {
		return err
	}
	cfg := printer.Config{Argv: []string{"go", "run", ".", "(in kernel/gen)"}, Pkg: "kernel"}
	for ext, p := range map[string]printer.Printer{".s": printer.NewGoAsm(cfg), ".go": printer.NewStubs(cfg)} {
		b, err := p.Print(f)
		if err != nil {
			return err
		}
		if err := os.WriteFile(filepath.Join(dir, "z"+name+"_amd64"+ext), b, 0o644); err != nil {
			return err
		}
	}
	return nil
}
