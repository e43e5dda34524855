package boundary

import "unsafe"

// Structs hands out zeroed structs in C memory that is never given back, so that one the program uses after its end is
// read as empty and not as something else. T must hold no Go pointers. It is not safe for concurrent use.
type Structs[T any] struct{ unused []*T }

// structsAtOnce is how many structs are made when none is left.
const structsAtOnce = 256

// Take returns an unused struct.
func (s *Structs[T]) Take() *T {
	if len(s.unused) == 0 {
		var slab Block
		SetSlice(&slab, make([]T, structsAtOnce))
		slab.Keep()
		all := unsafe.Slice((*T)(slab.addr), structsAtOnce)
		for i := range all {
			s.unused = append(s.unused, &all[i])
		}
	}
	p := s.unused[len(s.unused)-1]
	s.unused = s.unused[:len(s.unused)-1]
	return p
}

// Return empties a struct of Take, which others may get from now on.
func (s *Structs[T]) Return(p *T) {
	var zero T
	*p = zero
	s.unused = append(s.unused, p)
}
