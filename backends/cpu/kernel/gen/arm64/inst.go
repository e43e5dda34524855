package main

import (
	"fmt"
	"regexp"
	"strings"
)

// form is an instruction of vectors: its bits without operands, and how binutils write it. D, N and M are registers, I
// an index of an element, a shift or a constant.
type form struct {
	bits uint32
	text string
}

// forms are the instructions of vectors that are written as words. Names follow binutils, with the arrangement of the
// result; ".e" multiplies by one element. sized.go adds those of any size.
var forms = map[string]form{
	"fadd.4s":     {0x4e20d400, "fadd D.4s, N.4s, M.4s"},
	"fsub.4s":     {0x4ea0d400, "fsub D.4s, N.4s, M.4s"},
	"fmul.4s":     {0x6e20dc00, "fmul D.4s, N.4s, M.4s"},
	"fdiv.4s":     {0x6e20fc00, "fdiv D.4s, N.4s, M.4s"},
	"fmax.4s":     {0x4e20f400, "fmax D.4s, N.4s, M.4s"},
	"fmin.4s":     {0x4ea0f400, "fmin D.4s, N.4s, M.4s"},
	"fmaxnm.4s":   {0x4e20c400, "fmaxnm D.4s, N.4s, M.4s"},
	"fminnm.4s":   {0x4ea0c400, "fminnm D.4s, N.4s, M.4s"},
	"fabd.4s":     {0x6ea0d400, "fabd D.4s, N.4s, M.4s"},
	"fmla.4s":     {0x4e20cc00, "fmla D.4s, N.4s, M.4s"},
	"fmls.4s":     {0x4ea0cc00, "fmls D.4s, N.4s, M.4s"},
	"fcmgt.4s":    {0x6ea0e400, "fcmgt D.4s, N.4s, M.4s"},
	"fcmge.4s":    {0x6e20e400, "fcmge D.4s, N.4s, M.4s"},
	"fcmeq.4s":    {0x4e20e400, "fcmeq D.4s, N.4s, M.4s"},
	"faddp.4s":    {0x6e20d400, "faddp D.4s, N.4s, M.4s"},
	"fmul.2d":     {0x6e60dc00, "fmul D.2d, N.2d, M.2d"},
	"fadd.2d":     {0x4e60d400, "fadd D.2d, N.2d, M.2d"},
	"fmla.2d":     {0x4e60cc00, "fmla D.2d, N.2d, M.2d"},
	"fsub.2d":     {0x4ee0d400, "fsub D.2d, N.2d, M.2d"},
	"fmls.2d":     {0x4ee0cc00, "fmls D.2d, N.2d, M.2d"},
	"fdiv.2d":     {0x6e60fc00, "fdiv D.2d, N.2d, M.2d"},
	"fmin.2d":     {0x4ee0f400, "fmin D.2d, N.2d, M.2d"},
	"fmax.2d":     {0x4e60f400, "fmax D.2d, N.2d, M.2d"},
	"fcmgt.2d":    {0x6ee0e400, "fcmgt D.2d, N.2d, M.2d"},
	"fsqrt.2d":    {0x6ee1f800, "fsqrt D.2d, N.2d"},
	"fcvtn.2s":    {0x0e616800, "fcvtn D.2s, N.2d"},
	"fcvtn2.4s":   {0x4e616800, "fcvtn2 D.4s, N.2d"},
	"shl.2d":      {0x4f005400, "shl D.2d, N.2d, #I"},
	"sshr.2d":     {0x4f000400, "sshr D.2d, N.2d, #I"},
	"fcvtl.2d":    {0x0e617800, "fcvtl D.2d, N.2s"},
	"fcvtl2.2d":   {0x4e617800, "fcvtl2 D.2d, N.4s"},
	"frintm.2d":   {0x4e619800, "frintm D.2d, N.2d"},
	"fcvtms.2d":   {0x4e61b800, "fcvtms D.2d, N.2d"},
	"sqxtn.2s":    {0x0ea14800, "sqxtn D.2s, N.2d"},
	"sqxtn2.4s":   {0x4ea14800, "sqxtn2 D.4s, N.2d"},
	"frintz.2d":   {0x4ee19800, "frintz D.2d, N.2d"},
	"facgt.2d":    {0x6ee0ec00, "facgt D.2d, N.2d, M.2d"},
	"mls.4s":      {0x6ea09400, "mls D.4s, N.4s, M.4s"},
	"mla.4s":      {0x4ea09400, "mla D.4s, N.4s, M.4s"},
	"addp.4s":     {0x4ea0bc00, "addp D.4s, N.4s, M.4s"},
	"sqadd.8h":    {0x4e600c00, "sqadd D.8h, N.8h, M.8h"},
	"and.16b":     {0x4e201c00, "and D.16b, N.16b, M.16b"},
	"orr.16b":     {0x4ea01c00, "orr D.16b, N.16b, M.16b"},
	"eor.16b":     {0x6e201c00, "eor D.16b, N.16b, M.16b"},
	"bic.16b":     {0x4e601c00, "bic D.16b, N.16b, M.16b"},
	"bsl.16b":     {0x6e601c00, "bsl D.16b, N.16b, M.16b"},
	"bit.16b":     {0x6ea01c00, "bit D.16b, N.16b, M.16b"},
	"bif.16b":     {0x6ee01c00, "bif D.16b, N.16b, M.16b"},
	"sdot.4s":     {0x4e809400, "sdot D.4s, N.16b, M.16b"},
	"udot.4s":     {0x6e809400, "udot D.4s, N.16b, M.16b"},
	"usdot.4s":    {0x4e809c00, "usdot D.4s, N.16b, M.16b"},
	"smmla.4s":    {0x4e80a400, "smmla D.4s, N.16b, M.16b"},
	"usmmla.4s":   {0x4e80ac00, "usmmla D.4s, N.16b, M.16b"},
	"smull.8h":    {0x0e20c000, "smull D.8h, N.8b, M.8b"},
	"smull2.8h":   {0x4e20c000, "smull2 D.8h, N.16b, M.16b"},
	"smlal.8h":    {0x0e208000, "smlal D.8h, N.8b, M.8b"},
	"smlal2.8h":   {0x4e208000, "smlal2 D.8h, N.16b, M.16b"},
	"smlal.4s":    {0x0e608000, "smlal D.4s, N.4h, M.4h"},
	"smlal2.4s":   {0x4e608000, "smlal2 D.4s, N.8h, M.8h"},
	"smull.4s":    {0x0e60c000, "smull D.4s, N.4h, M.4h"},
	"smull2.4s":   {0x4e60c000, "smull2 D.4s, N.8h, M.8h"},
	"umull.4s":    {0x2e60c000, "umull D.4s, N.4h, M.4h"},
	"umlal.2d":    {0x2ea08000, "umlal D.2d, N.2s, M.2s"},
	"umull.2d":    {0x2ea0c000, "umull D.2d, N.2s, M.2s"},
	"umlal2.2d":   {0x6ea08000, "umlal2 D.2d, N.4s, M.4s"},
	"umull2.2d":   {0x6ea0c000, "umull2 D.2d, N.4s, M.4s"},
	"usubl.8h":    {0x2e202000, "usubl D.8h, N.8b, M.8b"},
	"usubl2.8h":   {0x6e202000, "usubl2 D.8h, N.16b, M.16b"},
	"sadalp.4s":   {0x4e606800, "sadalp D.4s, N.8h"},
	"saddlp.4s":   {0x4e602800, "saddlp D.4s, N.8h"},
	"fabs.4s":     {0x4ea0f800, "fabs D.4s, N.4s"},
	"fneg.4s":     {0x6ea0f800, "fneg D.4s, N.4s"},
	"fsqrt.4s":    {0x6ea1f800, "fsqrt D.4s, N.4s"},
	"frintn.4s":   {0x4e218800, "frintn D.4s, N.4s"},
	"frintm.4s":   {0x4e219800, "frintm D.4s, N.4s"},
	"frintp.4s":   {0x4ea18800, "frintp D.4s, N.4s"},
	"fcvtns.4s":   {0x4e21a800, "fcvtns D.4s, N.4s"},
	"fcvtms.4s":   {0x4e21b800, "fcvtms D.4s, N.4s"},
	"scvtf.4s":    {0x4e21d800, "scvtf D.4s, N.4s"},
	"ucvtf.4s":    {0x6e21d800, "ucvtf D.4s, N.4s"},
	"fcvtl.4s":    {0x0e217800, "fcvtl D.4s, N.4h"},
	"fcvtl2.4s":   {0x4e217800, "fcvtl2 D.4s, N.8h"},
	"fcvtn.4h":    {0x0e216800, "fcvtn D.4h, N.4s"},
	"fcvtn2.8h":   {0x4e216800, "fcvtn2 D.8h, N.4s"},
	"sqxtn.4h":    {0x0e614800, "sqxtn D.4h, N.4s"},
	"sqxtn2.8h":   {0x4e614800, "sqxtn2 D.8h, N.4s"},
	"xtn.4h":      {0x0e612800, "xtn D.4h, N.4s"},
	"xtn2.8h":     {0x4e612800, "xtn2 D.8h, N.4s"},
	"xtn.8b":      {0x0e212800, "xtn D.8b, N.8h"},
	"sqxtun.8b":   {0x2e212800, "sqxtun D.8b, N.8h"},
	"sqxtun2.16b": {0x6e212800, "sqxtun2 D.16b, N.8h"},
	"uxtl.8h":     {0x2f08a400, "uxtl D.8h, N.8b"},
	"uxtl2.8h":    {0x6f08a400, "uxtl2 D.8h, N.16b"},
	"sxtl.8h":     {0x0f08a400, "sxtl D.8h, N.8b"},
	"sxtl2.8h":    {0x4f08a400, "sxtl2 D.8h, N.16b"},
	"uxtl.4s":     {0x2f10a400, "uxtl D.4s, N.4h"},
	"uxtl2.4s":    {0x6f10a400, "uxtl2 D.4s, N.8h"},
	"sxtl.4s":     {0x0f10a400, "sxtl D.4s, N.4h"},
	"sxtl2.4s":    {0x4f10a400, "sxtl2 D.4s, N.8h"},
	"mov.16b":     {0x4ea01c00, "mov D.16b, N.16b"},
	"fmaxv":       {0x6e30f800, "fmaxv sD, N.4s"},
	"fminv":       {0x6eb0f800, "fminv sD, N.4s"},
	"faddp.2s":    {0x7e30d800, "faddp sD, N.2s"},
	"umaxv.16b":   {0x6e30a800, "umaxv bD, N.16b"},
	"umaxv.4s":    {0x6eb0a800, "umaxv sD, N.4s"},
	"dup.4s":      {0x4e040400, "dup D.4s, N.s[I]"},
	"dup.2s":      {0x0e040400, "dup D.2s, N.s[I]"},
	"dup.2d":      {0x4e080400, "dup D.2d, N.d[I]"},
	"dup.16b":     {0x4e010400, "dup D.16b, N.b[I]"},
	"dup.8h":      {0x4e020400, "dup D.8h, N.h[I]"},
	"fmla.e":      {0x4f801000, "fmla D.4s, N.4s, M.s[I]"},
	"fmls.e":      {0x4f805000, "fmls D.4s, N.4s, M.s[I]"},
	"fmul.e":      {0x4f809000, "fmul D.4s, N.4s, M.s[I]"},
	"sdot.e":      {0x4f80e000, "sdot D.4s, N.16b, M.4b[I]"},
	"udot.e":      {0x6f80e000, "udot D.4s, N.16b, M.4b[I]"},
	"sudot.e":     {0x4f00f000, "sudot D.4s, N.16b, M.4b[I]"},
	"ext.16b":     {0x6e000000, "ext D.16b, N.16b, M.16b, #I"},
	"sshr.4s":     {0x4f000400, "sshr D.4s, N.4s, #I"},
	"ushr.4s":     {0x6f000400, "ushr D.4s, N.4s, #I"},
	"shl.4s":      {0x4f005400, "shl D.4s, N.4s, #I"},
	"shl.8h":      {0x4f005400, "shl D.8h, N.8h, #I"},
	"sri.4s":      {0x6f004400, "sri D.4s, N.4s, #I"},
	"ushr.2d":     {0x6f000400, "ushr D.2d, N.2d, #I"},
	"rshrn.2s":    {0x0f008c00, "rshrn D.2s, N.2d, #I"},
	"shrn.4h":     {0x0f008400, "shrn D.4h, N.4s, #I"},
	"movi.16b":    {0x4f00e400, "movi D.16b, #I"},
	"movi.4s":     {0x4f000400, "movi D.4s, #I"},
	"movi.8h":     {0x4f008400, "movi D.8h, #I"},
	"fmov.s":      {0x1e204000, "fmov sD, sN"},
	"fmov.d":      {0x1e604000, "fmov dD, dN"},
	"mov.b0":      {0x5e010400, "dup bD, N.b[I]"},
	"saddlp.8h":   {0x4e202800, "saddlp D.8h, N.16b"},
	"uaddlp.8h":   {0x6e202800, "uaddlp D.8h, N.16b"},
	"uadalp.4s":   {0x6e606800, "uadalp D.4s, N.8h"},
	"addv.4s":     {0x4eb1b800, "addv sD, N.4s"},
	"addp.4h":     {0x0e60bc00, "addp D.4h, N.4h, M.4h"},
	"uminv.16b":   {0x6e31a800, "uminv bD, N.16b"},
	"sminv.16b":   {0x4e31a800, "sminv bD, N.16b"},
	"fcmge.2d":    {0x6e60e400, "fcmge D.2d, N.2d, M.2d"},
	"fcmeq.2d":    {0x4e60e400, "fcmeq D.2d, N.2d, M.2d"},
	"orn.16b":     {0x4ee01c00, "orn D.16b, N.16b, M.16b"},
	"rev64.4s":    {0x4ea00800, "rev64 D.4s, N.4s"},
	"uaddlp.2d":   {0x6ea02800, "uaddlp D.2d, N.4s"},
	"xtn.2s":      {0x0ea12800, "xtn D.2s, N.2d"},
	"scvtf.2d":    {0x4e61d800, "scvtf D.2d, N.2d"},
	"fcvtzs.4s":   {0x4ea1b800, "fcvtzs D.4s, N.4s"},
	"shll.4s":     {0x2e613800, "shll D.4s, N.4h, #16"},
	"shll2.4s":    {0x6e613800, "shll2 D.4s, N.8h, #16"},
	"uxtl.2d":     {0x2f20a400, "uxtl D.2d, N.2s"},
	"uxtl2.2d":    {0x6f20a400, "uxtl2 D.2d, N.4s"},
	"sxtl.2d":     {0x0f20a400, "sxtl D.2d, N.2s"},
	"sxtl2.2d":    {0x4f20a400, "sxtl2 D.2d, N.4s"},
	"fcmgt.z":     {0x4ea0c800, "fcmgt D.4s, N.4s, #0.0"},
}

// adds are the instructions that read what they write.
var adds = map[string]bool{
	"fmla": true, "fmls": true, "mla": true, "mls": true, "sdot": true, "udot": true, "usdot": true, "sudot": true, "smmla": true,
	"usmmla": true, "bsl": true, "bit": true, "bif": true, "smlal": true, "smlal2": true, "umlal": true, "umlal2": true,
	"sadalp": true, "uadalp": true, "sqxtn2": true, "sqxtun2": true, "xtn2": true, "fcvtn2": true, "sri": true,
}

var operandLetter = regexp.MustCompile(`\b([sdb]?)([DNM])\b`)

// v emits an instruction of vectors: the result, up to two operands, and an index, a shift or a constant where the form
// has one.
func (g *gen) v(name string, d *reg, operands ...any) *reg {
	f, ok := forms[name]
	if !ok {
		panic("no instruction " + name)
	}
	in := &inst{falls: true, defs: []*reg{d}}
	regs, index := []*reg{d}, 0
	for _, o := range operands {
		switch o := o.(type) {
		case *reg:
			regs, in.uses = append(regs, o), append(in.uses, o)
		case int:
			index = o
		}
	}
	if adds[strings.Split(name, ".")[0]] {
		in.uses = append(in.uses, d)
	}
	if want := strings.Count(f.text, "N") + strings.Count(f.text, "M") + 1; want != len(regs) {
		panic(fmt.Sprintf("%s: %d registers, want %d", name, len(regs), want))
	}
	in.text = func() string {
		bits := f.bits | indexBits(name, f.text, index)
		for i, r := range regs {
			bits |= uint32(r.n) << [3]int{0, 5, 16}[i]
		}
		if name == "mov.16b" { // orr of the operand with itself
			bits |= uint32(regs[1].n) << 16
		}
		text := operandLetter.ReplaceAllStringFunc(f.text, func(s string) string {
			kind := "v"
			if len(s) > 1 {
				kind = s[:1]
			}
			return fmt.Sprint(kind, regs[strings.Index("DNM", s[len(s)-1:])].n)
		})
		text = strings.NewReplacer("[I]", fmt.Sprintf("[%d]", index), "#I", fmt.Sprintf("#%d", index)).Replace(text)
		return fmt.Sprintf("WORD $0x%08x // %s", bits, text)
	}
	g.body = append(g.body, in)
	return d
}

// indexBits are the bits of an index, a shift or a constant.
func indexBits(name, text string, i int) uint32 {
	n := uint32(i)
	op, shape, _ := strings.Cut(name, ".")
	switch {
	case shape == "e":
		return n&1<<21 | n>>1<<11
	case op == "dup" || op == "mov" && shape == "b0":
		switch {
		case strings.Contains(text, ".b["):
			return n << 17
		case strings.Contains(text, ".h["):
			return n << 18
		case strings.Contains(text, ".s["):
			return n << 19
		}
		return n << 20
	case op == "ext":
		return n << 11
	case op == "movi":
		return n&0x1f<<5 | n>>5<<16
	case op == "shl":
		return (map[string]uint32{"2d": 64, "4s": 32, "8h": 16}[shape] + n) << 16
	case strings.Contains(text, "#I"): // to the right
		return (map[string]uint32{"4s": 64, "2d": 128, "4h": 32, "2s": 64}[shape] - n) << 16
	}
	return 0
}
