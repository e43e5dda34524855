package rknn

import (
	"bytes"
	"cmp"
	"encoding/binary"
	"encoding/json"
	"fmt"
	"io"
	"regexp"
	"slices"
	"strings"
)

// container is what can be read of a vendor's compiled model: a header, code, and a description as JSON behind it.
// Everything is optional, as there is no public definition of the file.
type container struct {
	size    int64
	target  string // "" when it does not say
	in, out []containerTensor
}

// containerTensor is an input or output; what is not known is empty.
type containerTensor struct {
	name, kind string
	dims       []int64
}

// isContainer says whether a file that begins with head is a compiled model, plain or encrypted.
func isContainer(head []byte) bool {
	return bytes.HasPrefix(head, []byte("RKNN")) || bytes.HasPrefix(head, []byte("CYPTRKNN"))
}

// endBytes is how much of a file's beginning and end is looked at.
const endBytes = 1 << 20

var targetRE = regexp.MustCompile(`"target_platform"\s*:\s*\[?\s*"([A-Za-z0-9_,]{1,32})"`)

// readContainer reads the description of a compiled model of size bytes.
func readContainer(r io.ReaderAt, size int64) *container {
	c := &container{size: size}
	tail := make([]byte, min(size, endBytes))
	if _, err := r.ReadAt(tail, size-int64(len(tail))); err != nil && err != io.EOF {
		return c
	}
	if m := targetRE.FindSubmatch(tail); m != nil {
		c.target = string(m[1])
	}
	if text := description(r, size); text != nil {
		c.parse(text)
	}
	return c
}

// description returns the JSON text: the header of 24 or 64 bytes says how long the code is, behind which lies the
// length of the text.
func description(r io.ReaderAt, size int64) []byte {
	var word [8]byte
	number := func(at int64) int64 {
		if at < 0 || at > size-8 {
			return -1
		}
		if _, err := r.ReadAt(word[:], at); err != nil && err != io.EOF {
			return -1
		}
		return int64(min(binary.LittleEndian.Uint64(word[:]), 1<<62))
	}
	code := number(16)
	if code < 0 || code > size {
		return nil
	}
	for _, header := range []int64{64, 24} {
		at := header + code
		n := number(at)
		if n <= 2 || n > endBytes || n > size-at-8 {
			continue
		}
		text := make([]byte, n)
		if _, err := r.ReadAt(text, at+8); (err == nil || err == io.EOF) && text[0] == '{' {
			return text
		}
	}
	return nil
}

func (c *container) parse(text []byte) {
	type edge struct {
		Left        string `json:"left"`
		LeftTensor  int    `json:"left_tensor_id"`
		Right       string `json:"right"`
		RightTensor int    `json:"right_tensor_id"`
	}
	var d struct {
		Graph   []edge `json:"graph"`
		Tensors []struct {
			ID    int     `json:"tensor_id"`
			Name  string  `json:"url"`
			Dims  []int64 `json:"size"`
			DType struct {
				Kind  string `json:"vx_type"`
				Quant string `json:"qnt_type"`
			} `json:"dtype"`
		} `json:"norm_tensor"`
	}
	if err := json.Unmarshal(text, &d); err != nil || len(d.Graph) > 1024 {
		return
	}
	slices.SortStableFunc(d.Graph, func(a, b edge) int { return cmp.Compare(a.LeftTensor, b.LeftTensor) })
	for _, g := range d.Graph {
		var t containerTensor
		for _, n := range d.Tensors {
			if n.ID == g.RightTensor && g.Right == "norm_tensor" {
				kind := n.DType.Kind
				if kind == "" {
					kind = n.DType.Quant
				}
				kind = strings.ToLower(kind[strings.LastIndexByte(kind, '_')+1:])
				t = containerTensor{name: n.Name, kind: kind, dims: n.Dims}
			}
		}
		switch g.Left {
		case "input":
			c.in = append(c.in, t)
		case "output":
			c.out = append(c.out, t)
		}
	}
}

// differences says how a model differs from the compiled one that it is loaded for, as far as that can be read.
// Dimensions are compared in any order, since the two may be laid out differently, and all real types count as one.
func (c *container) differences(m *model) []string {
	var list []string
	set := m.shapes[m.largest]
	for _, side := range []struct {
		what  string
		there []containerTensor
		here  []*port
		dims  [][]int64
	}{{"input", c.in, m.in, set.in}, {"output", c.out, m.out, set.out}} {
		if len(side.there) == 0 {
			continue
		}
		if len(side.there) != len(side.here) {
			list = append(list, fmt.Sprintf("%d %ss there, %d here", len(side.there), side.what, len(side.here)))
			continue
		}
		for i, t := range side.there {
			p, what := side.here[i], fmt.Sprintf("%s %d", side.what, i)
			if t.name != "" && t.name != p.name {
				list = append(list, fmt.Sprintf("%s is named %q there, %q here", what, t.name, p.name))
			}
			if len(t.dims) > 0 && !slices.Equal(sortedDims(t.dims), sortedDims(side.dims[i])) {
				list = append(list, fmt.Sprintf("%s has the shape %v there, %v here", what, t.dims, side.dims[i]))
			}
			if here := p.Type.String(); t.kind != "" && t.kind != "vdata" && t.kind != here &&
				!(strings.Contains(t.kind, "float") && p.Type.IsFloat()) {
				list = append(list, fmt.Sprintf("%s has the type %s there, %s here", what, t.kind, here))
			}
		}
	}
	return list
}

func sortedDims(d []int64) []int64 {
	d = slices.Clone(d)
	slices.Sort(d)
	return d
}
