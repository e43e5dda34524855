package link

import (
	"encoding/binary"
	"errors"
	"math"

	"github.com/anynpu/anynpu/core/tensor"
)

// Runs and their answers are sent in a binary form: JSON takes longer than the sockets do. Numbers are varints, texts
// and lists have their length before them.

// writer appends a message.
type writer struct{ b []byte }

func (w *writer) uint(v uint64) { w.b = binary.AppendUvarint(w.b, v) }
func (w *writer) int(v int64)   { w.b = binary.AppendVarint(w.b, v) }
func (w *writer) float(v float64) {
	w.b = binary.LittleEndian.AppendUint64(w.b, math.Float64bits(v))
}

func (w *writer) text(s string) {
	w.uint(uint64(len(s)))
	w.b = append(w.b, s...)
}

func (w *writer) shape(list []int64) {
	w.uint(uint64(len(list)))
	for _, n := range list {
		w.int(n)
	}
}

// reader takes a message apart. After a damaged place everything is 0, and bad is set.
type reader struct {
	b   []byte
	bad bool
}

func (r *reader) take(n int) {
	if n <= 0 || n > len(r.b) {
		r.b, r.bad = nil, true
		return
	}
	r.b = r.b[n:]
}

func (r *reader) uint() uint64 {
	v, n := binary.Uvarint(r.b)
	r.take(n)
	if r.bad {
		return 0
	}
	return v
}

func (r *reader) int() int64 {
	v, n := binary.Varint(r.b)
	r.take(n)
	if r.bad {
		return 0
	}
	return v
}

func (r *reader) float() float64 {
	if len(r.b) < 8 {
		r.take(0)
		return 0
	}
	v := math.Float64frombits(binary.LittleEndian.Uint64(r.b))
	r.take(8)
	return v
}

// count is the length of a list that follows, whose entries have a byte each at least.
func (r *reader) count() int {
	n := r.uint()
	if n > uint64(len(r.b)) {
		r.take(0)
		return 0
	}
	return int(n)
}

func (r *reader) text() string {
	n := r.count()
	if n == 0 {
		return ""
	}
	s := string(r.b[:n])
	r.take(n)
	return s
}

func (r *reader) shape() []int64 {
	list := make([]int64, r.count())
	for i := range list {
		list[i] = r.int()
	}
	return list
}

// appendBinary appends the binary form of a message; false for one that has none.
func appendBinary(b []byte, message any) ([]byte, bool) {
	w := writer{b}
	switch m := message.(type) {
	case *Request:
		if m.Do != Infer {
			return b, false
		}
		m.write(&w)
	case *Answer:
		if m.Done == nil || m.Done.Lacking || m.Offers != nil || m.Failure != nil || m.Metadata != nil ||
			m.State != nil || m.Notes != nil {
			return b, false
		}
		m.write(&w)
	default:
		return b, false
	}
	return w.b, true
}

func (m *Request) write(w *writer) {
	w.uint(m.Call)
	w.text(m.Model.Name)
	w.text(m.Model.Version)
	w.float(m.LeftMS)
	w.uint(uint64(len(m.In)))
	for i := range m.In {
		t := &m.In[i]
		w.text(t.Name)
		w.uint(uint64(t.Type))
		w.shape(t.Shape)
		w.uint(t.Region)
		w.int(t.Off)
		w.int(t.Size)
	}
	w.uint(uint64(len(m.Out)))
	for i := range m.Out {
		p := &m.Out[i]
		w.text(p.Name)
		w.uint(uint64(p.Type))
		w.shape(p.Shape)
		w.uint(p.Region)
		w.int(p.Off)
		w.int(p.Room)
	}
}

func (m *Request) read(r *reader) {
	*m = Request{Do: Infer, Call: r.uint()}
	m.Model = Model{Name: r.text(), Version: r.text()}
	m.LeftMS = r.float()
	m.In = make([]Tensor, r.count())
	for i := range m.In {
		m.In[i] = Tensor{Name: r.text(), Type: tensor.DType(r.uint()), Shape: r.shape(), Region: r.uint(), Off: r.int(),
			Size: r.int()}
	}
	m.Out = make([]Place, r.count())
	for i := range m.Out {
		m.Out[i] = Place{Name: r.text(), Type: tensor.DType(r.uint()), Shape: r.shape(), Region: r.uint(), Off: r.int(),
			Room: r.int()}
	}
}

func (m *Answer) write(w *writer) {
	w.uint(m.Call)
	w.uint(uint64(len(m.Out)))
	for i := range m.Out {
		o := &m.Out[i]
		w.shape(o.Shape)
		w.int(o.Off)
		w.int(o.Size)
		spill := uint64(0)
		if o.Spill {
			spill = 1
		}
		w.uint(spill)
	}
	w.int(m.Spill)
	w.text(m.Done.Address)
	w.int(int64(m.Done.Attempts))
	w.int(m.Done.Sent)
	w.int(m.Done.Received)
	w.float(m.Done.TookMS)
}

func (m *Answer) read(r *reader) {
	*m = Answer{Call: r.uint()}
	m.Out = make([]Result, r.count())
	for i := range m.Out {
		m.Out[i] = Result{Shape: r.shape(), Off: r.int(), Size: r.int(), Spill: r.uint() != 0}
	}
	m.Spill = r.int()
	m.Done = &Done{Address: r.text(), Attempts: int(r.int()), Sent: r.int(), Received: r.int(), TookMS: r.float()}
}

// readBinary reads the binary form of a message.
func readBinary(b []byte, message any) error {
	r := reader{b: b}
	switch m := message.(type) {
	case *Request:
		m.read(&r)
	case *Answer:
		m.read(&r)
	default:
		return errors.New("a binary message where none belongs")
	}
	if r.bad || len(r.b) > 0 {
		return errors.New("a damaged message")
	}
	return nil
}
