package suite

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"sync"

	"github.com/anynpu/anynpu/conformance/suite/cmem"
	"github.com/anynpu/anynpu/conformance/suite/models"
)

// Models say how programs of an API hand ONNX models over, and what stands for these with a library that loads none.
type Models struct {
	Converter *models.Converter
	// Calls are the functions that take models, by their full names: each names the models of a call.
	Calls map[string]func(*Handover)
	// Loads tells whether a library loads ONNX, by trying a small model.
	Loads func(*Library) bool
	// Free lists the cases that need no model, a line each: SUITE CASE, or SUITE PREFIX/* for all that begin so.
	Free string
}

// Handover is a call that takes models.
type Handover struct {
	Args   []any     // as the case has them
	Values []uintptr // of the registers
	keep   []any     // what must live as long as the call

	exchange exchange
	took     func(name string)
}

// Models do not reach a library as they are if ...
type exchange struct {
	dir    string // holds the converted ones; "": there is none
	record bool   // they do, and are saved in dir
}

// NoModels is the value of Options.Models with which a case that hands a model over is skipped.
const NoModels = "-"

// On keeps a value as long as the call takes, and puts its address into the register of argument i.
func (h *Handover) On(i int, address uintptr, value any) { h.Values[i], h.keep[i] = address, value }

// Beyond ends a case that lays a model out in a way that only the bytes of the case fit.
func (h *Handover) Beyond(why string) {
	h.took("")
	if h.exchange.dir != "" && !h.exchange.record {
		panic(lacking(why + ": a converted model cannot take its place"))
	}
}

// Bytes returns what is handed over in the place of a model, and the name of its file: themselves if they are no whole
// ONNX model, or if the library gets models as they are. "" is the name then.
func (h *Handover) Bytes(c *models.Converter, data []byte) ([]byte, string) {
	m, err := models.Read(data)
	if err != nil {
		return data, ""
	}
	name := models.Name(data)
	h.took(name)
	switch {
	case h.exchange.dir == "":
		return data, ""
	case h.exchange.record:
		path := filepath.Join(h.exchange.dir, name+".onnx")
		if _, err := os.Stat(path); err == nil {
			return data, ""
		}
		own := fmt.Sprintf("%s.%d", path, os.Getpid()) // another process may save the same
		if err = os.WriteFile(own, data, 0o666); err == nil {
			err = os.Rename(own, path)
		}
		if err != nil {
			panic(violation("the model cannot be saved: " + err.Error()))
		}
		return data, ""
	}
	if why := c.Reason(m); why != "" {
		panic(lacking(why))
	}
	if h.exchange.dir == NoModels {
		panic(lacking("the library loads no ONNX model, and there is no converted one: see conformance models"))
	}
	for _, e := range c.Extensions {
		path := filepath.Join(h.exchange.dir, name+e)
		converted, err := os.ReadFile(path)
		if err == nil {
			return converted, path
		}
		if !errors.Is(err, os.ErrNotExist) {
			panic(violation(err.Error()))
		}
	}
	panic(lacking(fmt.Sprintf("there is no %s%s for %s.onnx", name, strings.Join(c.Extensions, ", or "), name)))
}

// File is Bytes of a file at a path; it returns the path of the one to load in its place.
func (h *Handover) File(c *models.Converter, path string) string {
	data, err := os.ReadFile(path)
	if err != nil {
		return path // which the library has to refuse
	}
	if _, to := h.Bytes(c, data); to != "" {
		return to
	}
	return path
}

// String puts a text into the register of argument i.
func (h *Handover) String(i int, text string) {
	b := append([]byte(text), 0)
	h.On(i, cmem.First(b), b)
}

// handed are the models that a case has handed over.
type handed struct {
	mu    sync.Mutex
	any   bool
	names []string
}

func (h *handed) take(name string) {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.any = true
	for _, n := range h.names {
		if n == name {
			return
		}
	}
	if name != "" {
		h.names = append(h.names, name)
	}
}

func (h *handed) reset() {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.any, h.names = false, nil
}

// handOver exchanges the models of a call.
func (l *Library) handOver(function string, args []any, values []uintptr, keep []any) {
	if l.API.Models == nil || l.API.Models.Calls[function] == nil || l.recorder() != nil && l.exchange.dir == "" {
		return
	}
	l.API.Models.Calls[function](&Handover{Args: args, Values: values, keep: keep, exchange: l.exchange,
		took: l.handed.take})
}

// Converted tells whether the library gets converted models, whose results are those of the device's precision.
func (l *Library) Converted() bool {
	return l.exchange.dir != "" && !l.exchange.record && l.exchange.dir != NoModels
}
