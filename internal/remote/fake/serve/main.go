// Command serve is the fake server as a process, for tests of programs: it computes ONNX models on the CPU until its
// standard input ends.
//
//	serve ADDRESS NAME=FILE...
//
// It writes "ready ADDRESS" when it answers.
package main

import (
	"fmt"
	"io"
	"os"
	"strings"

	"github.com/anynpu/anynpu/backends/cpu"
	"github.com/anynpu/anynpu/core/mem"
	"github.com/anynpu/anynpu/core/model"
	"github.com/anynpu/anynpu/internal/remote/fake"
)

func main() {
	if err := run(os.Args[1:]); err != nil {
		fmt.Fprintln(os.Stderr, "serve:", err)
		os.Exit(1)
	}
}

func run(args []string) error {
	if len(args) < 2 {
		return fmt.Errorf("want ADDRESS and NAME=FILE for each model")
	}
	d, err := cpu.New(cpu.Config{Threads: 2})
	if err != nil {
		return err
	}
	var models []*fake.Model
	for _, arg := range args[1:] {
		name, file, _ := strings.Cut(arg, "=")
		m, err := model.Load(model.Source{Path: file}, model.Options{Weights: mem.NewWeights()})
		if err != nil {
			return err
		}
		served, err := fake.OfGraph(name, m.Graph, d)
		if err != nil {
			return err
		}
		models = append(models, served)
	}
	s, err := fake.StartAt(args[0], nil, models)
	if err != nil {
		return err
	}
	fmt.Println("ready", s.Address)
	_, _ = io.Copy(io.Discard, os.Stdin)
	s.Close()
	return nil
}
