package hbdnn

import "encoding/binary"

// integer reads an integer of a tensor type.
func integer(kind int32, b []byte) int64 {
	switch kind {
	case typeS8:
		return int64(int8(b[0]))
	case typeU8:
		return int64(b[0])
	case typeS16:
		return int64(int16(binary.NativeEndian.Uint16(b)))
	case typeU16:
		return int64(binary.NativeEndian.Uint16(b))
	case typeS32:
		return int64(int32(binary.NativeEndian.Uint32(b)))
	}
	return int64(binary.NativeEndian.Uint32(b))
}

func putUint32(b []byte, v uint32) { binary.NativeEndian.PutUint32(b, v) }
