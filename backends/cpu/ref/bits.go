package ref

import "github.com/anynpu/anynpu/core/tensor"

// mover returns the function that copies element j of src to element i of dst. Both have the same element type, of any
// width.
func mover(dst, src tensor.Tensor) func(i, j int) {
	switch bits := dst.DType.Bits(); bits {
	case 2, 4, 6:
		return func(i, j int) { tensor.PutCode(dst.DType, dst.Data, i, tensor.Code(src.DType, src.Data, j)) }
	case 8:
		return func(i, j int) { dst.Data[i] = src.Data[j] }
	case 16:
		return moverOf[uint16](dst, src)
	case 32:
		return moverOf[uint32](dst, src)
	case 64:
		return moverOf[uint64](dst, src)
	default:
		n := bits / 8
		return func(i, j int) { copy(dst.Data[i*n:(i+1)*n], src.Data[j*n:(j+1)*n]) }
	}
}

func moverOf[T elem](dst, src tensor.Tensor) func(i, j int) {
	d, s := view[T](dst), view[T](src)
	return func(i, j int) { d[i] = s[j] }
}
