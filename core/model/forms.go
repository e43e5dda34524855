package model

import (
	"encoding/hex"
	"io"
	"path/filepath"

	"github.com/anynpu/anynpu/core/compile"
	"github.com/anynpu/anynpu/core/fault"
	"github.com/anynpu/anynpu/core/mem"
	"github.com/anynpu/anynpu/core/tensor"
)

// maxForm bounds the size of a compiled form.
const maxForm = 4 << 30

// Forms are the compiled forms of the model that its metadata list (anynpu.compiled). For a model of bytes there is no
// folder that they could lie in: why says so.
func (m *Model) Forms() (forms []compile.Form, why string) {
	if m.bounded { // they have the model's outputs alone
		return nil, ""
	}
	if len(m.Meta.Compiled) > 0 && m.Path == "" {
		return nil, "its metadata list compiled forms, which lie beside a file: pass the file, not its bytes"
	}
	for _, c := range m.Meta.Compiled {
		path := filepath.Join(filepath.Dir(m.Path), c.File)
		forms = append(forms, compile.Form{File: c.File, Container: c.Container, Target: c.Target, Bytes: m.bytes(),
			Read: func() ([]byte, error) { return readForm(path, c.SHA256) }})
	}
	return forms, ""
}

// bytes says what numbers the model takes of the bytes of images. An input whose channels the program hands over in
// another order is left out: a compiled form may take either.
func (m *Model) bytes() map[string]compile.Bytes {
	list := map[string]compile.Bytes{}
	for _, v := range m.Graph.In {
		p, im := m.port(v, m.InputInfo(v)), m.Images[v]
		switch {
		case im == nil && !p.Swap:
			list[p.Name] = compile.Bytes{Mean: p.Mean, Std: p.Std}
		case im != nil && im.Part == ImageWhole && im.Decode.Interleaved && !im.Resized &&
			!m.port(v, m.Meta.Inputs[im.Input]).Swap:
			list[p.Name] = compile.Bytes{Interleaved: true}
		}
	}
	return list
}

// readForm reads a file whose SHA-256 is known.
func readForm(path, sum string) ([]byte, error) {
	f, err := (Source{Path: path}).Open()
	if err != nil {
		return nil, err
	}
	defer f.Close()
	if f.Size > maxForm {
		return nil, fault.New(fault.File, "it has %d bytes, more than %d", f.Size, int64(maxForm))
	}
	data, err := mem.Make[byte](int(f.Size))
	if err != nil {
		return nil, err
	}
	if _, err := io.ReadFull(io.NewSectionReader(f, 0, f.Size), data); err != nil {
		return nil, fault.As(fault.File, cause(err), "")
	}
	if h := tensor.HashOf(data); hex.EncodeToString(h[:]) != sum {
		return nil, fault.New(fault.File, "its SHA-256 is %x, and the model's metadata say %s", h[:], sum)
	}
	return data, nil
}
