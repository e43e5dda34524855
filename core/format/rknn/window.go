package rknn

import "io"

// window is a part of a file. Reads outside of it give zeros or nil, never an error: callers check lengths where it
// matters.
type window struct {
	src       *blocks
	off, size int64
}

// blocks reads a file in pieces and keeps those it has read last.
type blocks struct {
	r    io.ReaderAt
	size int64
	kept map[int64][]byte
	left int64 // bytes that may still be handed out: offsets can lead to the same place again and again
}

const (
	blockSize = 64 << 10
	maxBlocks = 256
	maxRead   = 512 << 20
)

func newWindow(r io.ReaderAt, off, size int64) window {
	return window{&blocks{r: r, size: off + size, kept: map[int64][]byte{}, left: maxRead}, off, size}
}

// part returns n bytes of w from off, fewer where w ends.
func (w window) part(off, n int64) window {
	if off < 0 || n < 0 || off > w.size {
		return window{w.src, 0, 0}
	}
	return window{w.src, w.off + off, min(n, w.size-off)}
}

// inside reports whether n bytes from off are in w.
func (w window) inside(off, n int64) bool {
	return off >= 0 && n >= 0 && off <= w.size && n <= w.size-off
}

// spend counts n bytes as handed out, and reports whether that many were left.
func (w window) spend(n int64) bool {
	if n > w.src.left {
		return false
	}
	w.src.left -= n
	return true
}

// bytes returns n bytes from off, nil when they are not all in w or cannot be read.
func (w window) bytes(off, n int64) []byte {
	if !w.inside(off, n) || !w.spend(n) {
		return nil
	}
	out := make([]byte, 0, n)
	for at := w.off + off; n > 0; {
		b := w.src.block(at / blockSize)
		from := at % blockSize
		if from >= int64(len(b)) {
			return nil
		}
		b = b[from:min(int64(len(b)), from+n)]
		out, at, n = append(out, b...), at+int64(len(b)), n-int64(len(b))
	}
	return out
}

// number returns the n bytes from off as a little-endian number, 0 when they are not all in w.
func (w window) number(off int64, n int) uint64 {
	if !w.inside(off, int64(n)) {
		return 0
	}
	var v uint64
	for i := range int64(n) {
		at := w.off + off + i
		b := w.src.block(at / blockSize)
		if at%blockSize >= int64(len(b)) {
			return 0
		}
		v |= uint64(b[at%blockSize]) << (8 * i)
	}
	return v
}

func (w window) u64(off int64) uint64 { return w.number(off, 8) }
func (w window) u32(off int64) uint32 { return uint32(w.number(off, 4)) }
func (w window) u16(off int64) uint16 { return uint16(w.number(off, 2)) }
func (w window) u8(off int64) uint8   { return uint8(w.number(off, 1)) }

// block returns block i of the file, shorter at its end, nil when it cannot be read.
func (b *blocks) block(i int64) []byte {
	if data, ok := b.kept[i]; ok {
		return data
	}
	if len(b.kept) >= maxBlocks {
		clear(b.kept)
	}
	data := make([]byte, min(blockSize, max(0, b.size-i*blockSize)))
	n, err := b.r.ReadAt(data, i*blockSize)
	if err != nil && err != io.EOF {
		n = 0
	}
	data = data[:n]
	b.kept[i] = data
	return data
}
