package rknn

// The container: a header of 64 bytes, a section, and a JSON text behind its length.
const (
	headerSize  = 64
	versionAt   = 8
	sectionAt   = 16 // length of the section
	versionMain = 6
	versionMini = 0x1004 // the FlatBuffer lies last in the section, behind its own length
)

func (f *File) readContainer(w window) {
	if w.size < headerSize {
		f.lose("container", "%d bytes, the header alone has %d", w.size, headerSize)
		return
	}
	f.Version = w.u64(versionAt)
	length := w.u64(sectionAt)
	if length > uint64(w.size-headerSize) {
		f.lose("container", "a section of %d bytes in a file of %d", length, w.size)
		return
	}
	section := w.part(headerSize, int64(length))
	f.readDescription(w, headerSize+int64(length))
	switch f.Version {
	case versionMain:
		f.readRoot(section, &mainTables)
	case versionMini:
		n := int64(section.u32(0))
		if n < 8 || !section.inside(4, n) {
			f.lose("flatbuffer", "%d bytes in a section of %d", n, section.size)
			return
		}
		f.readRoot(section.part(section.size-n, n), &miniTables)
	default:
		f.lose("flatbuffer", "container version %#x is not known", f.Version)
	}
}

// readDescription reads the JSON text behind the section.
func (f *File) readDescription(w window, at int64) {
	if !w.inside(at, 8) {
		f.lose("JSON", "the file ends before it")
		return
	}
	n := w.u64(at)
	if n > maxText || !w.inside(at+8, int64(n)) {
		f.lose("JSON", "%d bytes at offset %d of %d", n, at+8, w.size)
		return
	}
	if n > 0 {
		f.parseDescription(w.bytes(at+8, int64(n)))
	}
}
