package main

// shapes are the arrangements of elements of 1, 2, 4 and 8 bytes.
var shapes = [4]string{"16b", "8h", "4s", "2d"}

// families are the instructions whose elements have any of the four sizes: their bits for bytes, and how many sizes
// there are, from bytes on. Those of one operand are in unaryFamilies.
var families, unaryFamilies = map[string]family{
	"add":  {0x4e208400, 4},
	"sub":  {0x6e208400, 4},
	"mul":  {0x4e209c00, 3},
	"smin": {0x4e206c00, 3},
	"smax": {0x4e206400, 3},
	"umin": {0x6e206c00, 3},
	"umax": {0x6e206400, 3},
	"cmgt": {0x4e203400, 4},
	"cmge": {0x4e203c00, 4},
	"cmhi": {0x6e203400, 4},
	"cmhs": {0x6e203c00, 4},
	"cmeq": {0x6e208c00, 4},
	"ushl": {0x6e204400, 4},
	"zip1": {0x4e003800, 4},
	"zip2": {0x4e007800, 4},
	"trn1": {0x4e002800, 4},
	"trn2": {0x4e006800, 4},
	"uzp1": {0x4e001800, 4},
	"uzp2": {0x4e005800, 4},
}, map[string]family{
	"abs": {0x4e20b800, 4},
	"neg": {0x6e20b800, 4},
}

type family struct {
	bits  uint32
	sizes int
}

func init() {
	add := func(name string, f family, operands string) {
		for i, shape := range shapes[:f.sizes] {
			text := name + " D." + shape + ", N." + shape
			if operands != "" {
				text += operands + shape
			}
			forms[name+"."+shape] = form{f.bits | uint32(i)<<22, text}
		}
	}
	for name, f := range families {
		add(name, f, ", M.")
	}
	for name, f := range unaryFamilies {
		add(name, f, "")
	}
}
