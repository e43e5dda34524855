package kernel

// table is the kernels of one instruction set: what an architecture supplies. The exported functions check operands and
// walk over them; a table's functions get operands that are valid, sizes of at least 1, pointers to first elements, and
// strides in bytes unless they say otherwise. They keep no pointer. Functions marked "vectors" get multiples of lanes
// values.
type table struct {
	lanes int // float32 values of one vector

	// Products with matrices that PackB and PackInt8 pack; nil: computed by gemmPanelGeneric and intPanelGeneric.
	gemm *gemmTiles
	int8 *intTiles

	// Convolutions of 3x3 by Winograd's algorithm.
	winoInput  func(c int, in *float32, irow, icol int, out *float32, of int, tmp *float32)
	winoFilter func(n int, w *float32, wtap int, u *float32, uf int, tmp *float32)
	winoOutput func(c int, in *float32, inf int, out *float32, orow, ocol int, bias, res *float32, rrow, rcol int,
		lo, hi float32, after, ny, nx int, tmp *float32)

	// Windows: one position of the output, four neighbouring ones, and dwSizes of them for 3, 5 or 7 taps at stride 1 or 2
	// (nil: none).
	window1, window4 dwFn
	quick            [3][2][3]dwFastFn
	poolMax, poolSum poolFn

	// Windows of codes, of at most depthwiseTaps taps, and of 3x3 taps side by side, of channels in dotOrder; nil:
	// computed by pixelGeneric.
	dotOrder  laneOrder
	dotWindow dotWindowFn
	dotSlide  dotSlideFn

	// The same for filters whose numbers have 9 bits.
	wideOrder  laneOrder
	wideWindow dotWindowFn
	wideSlide  dotSlideFn

	// Element by element.
	unary              [numUnary]unaryFn
	binaryVV           [numBinary]vvFn
	binaryVS, binarySV [numBinary]vsFn
	halves             [numHalfTypes]halfTable
	// By the number of kindOf; nil: compareGeneric.
	compareVV, compareVS   [numCompared][numComparisons]pairFn
	integersVV, integersVS [numInteger]pairFn // nil: integersGeneric
	foldIntegers           [numSized]castFn
	selects                [4]func(dst, c, a, b *byte, n int) // by sizeOf
	// By the number of kindOf; nil: no kernel.
	quotientsVV, quotientsVS [3][numQuotients]quotientFn
	integersEach             [numFunctions]castFn // nil: eachGeneric

	// Casts, by the binary logarithms of the sizes of elements, from and to; nil: castGeneric and its like.
	narrow        [4][4]castFn
	widen         [2][4][4]castFn // of unsigned integers, of signed ones
	int32ToFloat  castFn
	uint32ToFloat castFn
	doubleToFloat castFn
	floatToDouble castFn
	brainToFloat  castFn
	floatToBrain  castFn
	int64ToFloat  boundedFn
	floatToInt32  boundedFn

	// Moves, by sizeOf; the transposes have blocks of transposeBlocks. nil: Go.
	copyBytes  func(dst, src *byte, n int)
	copyRows   func(dst *byte, ldd int, src *byte, lds, n, rows int)
	merge      [4]pairFn
	enlarge    [4]func(dst, src *byte, n, rows int)
	split      [4]splitFn
	splitIn3   [4]splitFn
	repeatRows func(dst, src *byte, n, times, rows int)
	transpose  [4]func(dst *byte, ldd int, src *byte, lds, rows, cols int)

	// Lines side by side, in multiples of linesStep: by the order of numbers and which of equal ones counts; by
	// exclusive. nil: Go.
	better  [2][2]func(best *float32, at *int32, x *float32, n int, k int32)
	running [2]func(dst, src *float32, sums *float64, n int)
	// Columns of a multiple of linesStep; nil: foldGeneric.
	fold [numFolds]foldFn

	// Neighbours two apart: two taps, and three; the largest of three; nil: Go.
	maxPairs [2]func(dst *float32, ldd int, src *float32, lds, n, rows int)
	max3     func(dst, a, b, c *float32, n int)

	// Boxes, in multiples of OverlapStep, with the distance of rows in bytes; not 0: there is one. nil: overlapsGeneric.
	overlaps func(others *float32, ld, n int, box *float32, limit float32) uint64

	halfToFloat  func(dst *float32, src *uint16, n int)                           // vectors
	floatToHalf  func(dst *uint16, src *float32, n int)                           // vectors
	dequantizeU8 func(dst *float32, src *uint8, n int, scale float32, zero int32) // vectors
	dequantizeS8 func(dst *float32, src *int8, n int, scale float32, zero int32)  // vectors
	roundTrip    func(dst, src *float32, n int, scale, lo, hi, back float32)
	mix4         func(dst, a, b, c, d *float32, n int, wa, wb, wc, wd float32) // a*wa + b*wb + c*wc + d*wd, in place

	// Reductions, and what is written on the way to one.
	sum, max, min func(src *float32, n int) float32
	sumAbs        func(src *float32, n int) float32 // as sum; nil: by way of memory
	sumSquares    func(src *float32, n int, mean float32) float32
	addSum        func(dst, a, b *float32, n int) float32
	expSum        func(dst, src *float32, n int, scale, shift float32) float32
	normalize     func(dst, src, gamma, beta *float32, n int, mean, rstd float32)

	// What rows of numbers are put through; nil: by other kernels, or Go.
	affine  func(dst, src *float32, n int, mean, factor, shift float32)
	dot     func(a, b *float32, n int) float32
	dots    func(dst, x, w *float32, ldw, n, rows int)
	mixRows func(dst, x, w *float32, ldw, n int) // of mixCols columns
	mixCols int

	// Rows of codes of 4 and of 8 bits; nil: Go.
	codeBlocks4, codeBlocks8 func(dst, x *float32, w *uint8, ldw, steps, blocks, rows int)

	// Rows of numbers with columns of binary16, 4*lanes of them, by rows less one; nil: none.
	halfRows [2]halfRowsFn
	// Rows of numbers in digits, by bits/8, digits less two, and one row or four; nil: none.
	blockDots [2][2][2]blockDotsFn

	addRows func(dst *float32, ldd int, src *float32, lds, n, rows int)
	rotate  func(dst, src *float32, ld int, cos, sin *float32, ldc, n, rows int)
	softmax func(dst, src *float32, n, rows int, scale float32) // scale >= 0
	// The logarithm of softmax, and the sum that it is of, of exponents that are at most 0; nil: by way of expSum.
	logSoftmax func(dst, src *float32, n, rows int, scale float32)
	expTotal   func(src *float32, n int, scale, shift float32) float32

	// Layouts.
	interleave3 func(dst, a, b, c *float32, n int)                             // vectors
	transpose8  func(dst *float32, ldd int, src *float32, lds, rows, cols int) // blocks of 8x8; strides in values

	// Codes, in multiples of combineStep.
	combine func(dst, a, b *uint8, n int, fa, fb, add float32, zero, lo, hi int)
	maxU8   func(dst, src *uint8, n int)
	lookup  func(dst, src, table *byte, n int) // in multiples of lookupStep; nil: Go
	// rowPairs says that products of codes take pairs for rows and factors.
	rowPairs bool
	rowSums  func(dst *int32, src *uint8, rows, k, ld, runs, down, pairs int) // nil: none
	encode   func(dst *uint8, src *float32, n int, scale, lo, hi float32, zero int)
	nearest  func(dst *uint8, src *float32, n int, scale, shift *float32, zero, flip int, far float32, near *uint8)

	// Images of bytes: three channels of three components; pixels of pairs, in multiples of
	// spreadStep; pixels of one or two bytes between four others, in multiples of resizeStep, with 4 bytes at each place.
	affine3          func(dst0, dst1, dst2 *float32, a, b, c *uint8, n int, k *float32) // vectors
	spread           func(u, v, pairs *uint8, n int)
	resize1, resize2 func(dst, top, bottom *uint8, at *int32, weight *uint32, n int, wy uint32)

	// peak runs n steps of a loop of independent multiply-adds and returns the floating-point operations of one step.
	peak func(n int) (flopsPerStep int)
}

// fast is the kernels in use, which [Select] sets.
var fast table

// instructionSet has the kernels of one instruction set, which a file of an architecture registers.
type instructionSet struct {
	name      string
	available func() bool // on this processor, with the sets before it
	kernels   table
}

type (
	dotWindowFn func(channels, n, groups int, taps **uint8, ix int, w *int8, out *uint8, ldo int, init *int32,
		scale, add, low *float32, zero, lo, hi int)
	dotSlideFn func(channels, n int, rows **uint8, ix int, w *int8, out *uint8, ldo int, init *int32, scale, add,
		low *float32, zero, lo, hi int)
)

// halfTable has the functions of numbers of 16 bits, any number of them; nil: by way of float32. Those of Brain16 take
// no NaN with bits in its lower half as a number of float32.
type halfTable struct {
	unary    [numUnary]unaryHalfFn
	vv       [numBinary]vvHalfFn
	vs, sv   [numBinary]vsHalfFn
	quotient func(dst, a *uint16, b, r float32, n int) // a/b, r is 1/b; b is finite and not 0
	affine   func(dst, src *uint16, n int, mean, factor, shift float32)
}
