package ref

import (
	"encoding/binary"
	"math/bits"
)

// The odd constants of farmhash's 64-bit fingerprint.
const (
	mix0 = 0xc3a5c85c97cb3127
	mix1 = 0xb492b66fbe98f273
	mix2 = 0x9ae16a3b2f90404f
)

// fingerprint64 is Fingerprint64 of farmhash: a hash whose value never changes between versions and machines.
func fingerprint64(s []byte) uint64 {
	switch n := len(s); {
	case n <= 16:
		return fingerprintTo16(s)
	case n <= 32:
		return fingerprintTo32(s)
	case n <= 64:
		return fingerprintTo64(s)
	}
	return fingerprintLong(s)
}

func word(s []byte, at int) uint64 { return binary.LittleEndian.Uint64(s[at:]) }

// rotate turns to the right.
func rotate(v uint64, n int) uint64 { return bits.RotateLeft64(v, -n) }

func fold(v uint64) uint64 { return v ^ v>>47 }

// join mixes two words into one.
func join(u, v, mul uint64) uint64 {
	a := (u ^ v) * mul
	b := (v ^ fold(a)) * mul
	return fold(b) * mul
}

func fingerprintTo16(s []byte) uint64 {
	n := uint64(len(s))
	mul := mix2 + n*2
	switch {
	case n >= 8:
		a, b := word(s, 0)+mix2, word(s, len(s)-8)
		return join(rotate(b, 37)*mul+a, (rotate(a, 25)+b)*mul, mul)
	case n >= 4:
		first, last := uint64(binary.LittleEndian.Uint32(s)), uint64(binary.LittleEndian.Uint32(s[n-4:]))
		return join(n+first<<3, last, mul)
	case n > 0:
		y := uint64(s[0]) + uint64(s[n/2])<<8
		z := n + uint64(s[n-1])<<2
		return fold(y*mix2^z*mix0) * mix2
	}
	return mix2
}

func fingerprintTo32(s []byte) uint64 {
	n := len(s)
	mul := mix2 + uint64(n)*2
	a, b, c, d := word(s, 0)*mix1, word(s, 8), word(s, n-8)*mul, word(s, n-16)*mix2
	return join(rotate(a+b, 43)+rotate(c, 30)+d, a+rotate(b+mix2, 18)+c, mul)
}

func fingerprintTo64(s []byte) uint64 {
	n := len(s)
	mul := mix2 + uint64(n)*2
	a, b, c, d := word(s, 0)*mix2, word(s, 8), word(s, n-8)*mul, word(s, n-16)*mix2
	y := rotate(a+b, 43) + rotate(c, 30) + d
	z := join(y, a+rotate(b+mix2, 18)+c, mul)
	e, f, g, h := word(s, 16)*mul, word(s, 24), (y+word(s, n-32))*mul, (z+word(s, n-24))*mul
	return join(rotate(e+f, 43)+rotate(g, 30)+h, e+rotate(f+a, 18)+g, mul)
}

// absorb mixes 32 bytes from at on into a pair of words.
func absorb(s []byte, at int, a, b uint64) [2]uint64 {
	w, x, y, z := word(s, at), word(s, at+8), word(s, at+16), word(s, at+24)
	a += w
	b = rotate(b+a+z, 21)
	c := a
	a += x + y
	b += rotate(a, 44)
	return [2]uint64{a + z, b + c}
}

func fingerprintLong(s []byte) uint64 {
	n, seed := len(s), uint64(81)
	y := seed*mix1 + 113
	z := fold(y*mix2+113) * mix2
	x := seed*mix2 + word(s, 0)
	var v, w [2]uint64
	round := func(at int, mul, heavy uint64) {
		x = rotate(x+y+v[0]+word(s, at+8), 37) * mul
		y = rotate(y+v[1]+word(s, at+48), 42) * mul
		x ^= w[1] * heavy
		y += v[0]*heavy + word(s, at+40)
		z = rotate(z+w[0], 33) * mul
		v = absorb(s, at, v[1]*mul, x+w[0])
		w = absorb(s, at+32, z+w[1], y+word(s, at+16))
		z, x = x, z
	}
	for at := 0; at < (n-1)/64*64; at += 64 {
		tick()
		round(at, mix1, 1)
	}
	mul := mix1 + z&0xff<<1
	w[0] += uint64(n-1) & 63
	v[0] += w[0]
	w[0] += v[0]
	round(n-64, mul, 9)
	return join(join(v[0], w[0], mul)+fold(y)*mix0+z, join(v[1], w[1], mul)+x, mul)
}
