package tensor

// Code returns element i of a type of at most 8 bits as it is stored. Elements of fewer bits follow one another without
// gaps, the first in the low bits; one of 6 bits may begin in a byte and end in the next.
func Code(d DType, b []byte, i int) uint8 {
	bits := d.Bits()
	at := i * bits
	v, shift := uint(b[at/8]), at%8
	if shift+bits > 8 {
		v |= uint(b[at/8+1]) << 8
	}
	return uint8(v >> shift & (1<<bits - 1))
}

// PutCode writes the low bits of v as element i of a type of at most 8 bits.
func PutCode(d DType, b []byte, i int, v uint8) {
	bits := d.Bits()
	at := i * bits
	shift := at % 8
	mask, code := uint(1<<bits-1)<<shift, uint(v)<<shift
	b[at/8] = uint8(uint(b[at/8])&^mask | code&mask)
	if shift+bits > 8 {
		b[at/8+1] = uint8(uint(b[at/8+1])&^(mask>>8) | code&mask>>8)
	}
}
