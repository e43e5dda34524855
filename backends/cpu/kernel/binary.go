package kernel

const binaryBlock = 1 << 14 // keeps one assembly call short

// BinaryVV computes, in place if dst is a or b,
//
//	for i := range a {
//		dst[i] = op(a[i], b[i])
//	}
//
// dst and b must be as long as a.
func BinaryVV(op BinaryOp, dst, a, b []float32) {
	need("BinaryVV", "dst", len(dst), len(a))
	need("BinaryVV", "b", len(b), len(a))
	op.check()
	for i := 0; i < len(a); i += binaryBlock {
		fast.binaryVV[op](&dst[i], &a[i], &b[i], min(binaryBlock, len(a)-i))
	}
}

// BinaryVS computes dst[i] = op(a[i], s), in place if dst is a.
func BinaryVS(op BinaryOp, dst, a []float32, s float32) {
	need("BinaryVS", "dst", len(dst), len(a))
	op.check()
	for i := 0; i < len(a); i += binaryBlock {
		fast.binaryVS[op](&dst[i], &a[i], s, min(binaryBlock, len(a)-i))
	}
}

// BinarySV computes dst[i] = op(s, b[i]), in place if dst is b.
func BinarySV(op BinaryOp, dst []float32, s float32, b []float32) {
	need("BinarySV", "dst", len(dst), len(b))
	op.check()
	for i := 0; i < len(b); i += binaryBlock {
		fast.binarySV[op](&dst[i], &b[i], s, min(binaryBlock, len(b)-i))
	}
}

// BinaryRows combines every row of a [rows, cols] with one row vector, in place
// if dst is a:
//
//	dst[r*cols+c] = op(a[r*cols+c], row[c])
func BinaryRows(op BinaryOp, dst, a, row []float32, rows, cols int) {
	need("BinaryRows", "dst", len(dst), rows*cols)
	need("BinaryRows", "a", len(a), rows*cols)
	need("BinaryRows", "row", len(row), cols)
	for r := range rows {
		BinaryVV(op, dst[r*cols:], a[r*cols:][:cols], row)
	}
}
