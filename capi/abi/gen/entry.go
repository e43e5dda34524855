package main

import (
	"fmt"
	"strings"
)

// An arch is how one processor enters the library.
type arch struct {
	name  string
	entry string // body of an exported entry, \index: its number
	start string // body of a slot's first target
	first string // common part of the first targets
	tally string // body of a slot's target while calls are counted
	count string // common part of those
	stub  string // body of a function of a stub library, %s: name in the core library
}

var amd64 = arch{
	name:  "amd64",
	entry: "\tendbr64\n\tjmp\t*anynpu_slot+8*\\index(%rip)\n",
	start: "\tendbr64\n\tmov\t$\\index, %r11d\n\tjmp\tanynpu_first\n",
	stub:  "\tendbr64\n\tjmp\t*%s@GOTPCREL(%%rip)\n",
	tally: "\tendbr64\n\tmov\t$\\index, %r11d\n\tjmp\tanynpu_count\n",
	count: `	mov	anynpu_calls(%rip), %r10
	lock incq	(%r10,%r11,8)
	lea	anynpu_target(%rip), %r10
	jmp	*(%r10,%r11,8)
`,
	first: `	push	%rbp
	.cfi_adjust_cfa_offset 8
	.cfi_rel_offset %rbp, 0
	mov	%rsp, %rbp
	.cfi_def_cfa_register %rbp
	sub	$192, %rsp		/* keeps the stack aligned by 16 */
	mov	%rdi, 0(%rsp)		/* every register that may carry an argument */
	mov	%rsi, 8(%rsp)
	mov	%rdx, 16(%rsp)
	mov	%rcx, 24(%rsp)
	mov	%r8, 32(%rsp)
	mov	%r9, 40(%rsp)
	mov	%rax, 48(%rsp)		/* number of vector registers of a variadic call */
	movaps	%xmm0, 64(%rsp)
	movaps	%xmm1, 80(%rsp)
	movaps	%xmm2, 96(%rsp)
	movaps	%xmm3, 112(%rsp)
	movaps	%xmm4, 128(%rsp)
	movaps	%xmm5, 144(%rsp)
	movaps	%xmm6, 160(%rsp)
	movaps	%xmm7, 176(%rsp)
	mov	%r11d, %edi
	mov	8(%rbp), %rsi		/* where the call returns to */
	call	anynpu_resolve
	mov	%rax, %r11
	mov	0(%rsp), %rdi
	mov	8(%rsp), %rsi
	mov	16(%rsp), %rdx
	mov	24(%rsp), %rcx
	mov	32(%rsp), %r8
	mov	40(%rsp), %r9
	mov	48(%rsp), %rax
	movaps	64(%rsp), %xmm0
	movaps	80(%rsp), %xmm1
	movaps	96(%rsp), %xmm2
	movaps	112(%rsp), %xmm3
	movaps	128(%rsp), %xmm4
	movaps	144(%rsp), %xmm5
	movaps	160(%rsp), %xmm6
	movaps	176(%rsp), %xmm7
	leave
	.cfi_def_cfa %rsp, 8
	jmp	*%r11
`,
}

var arm64 = arch{
	name:  "arm64",
	entry: "\tbti\tc\n\tadrp\tx16, anynpu_slot+8*\\index\n\tldr\tx16, [x16, #:lo12:anynpu_slot+8*\\index]\n\tbr\tx16\n",
	start: "\tbti\tc\n\tmov\tw16, #\\index\n\tb\tanynpu_first\n",
	tally: "\tbti\tc\n\tmov\tw17, #\\index\n\tb\tanynpu_count\n",
	count: `	adrp	x16, anynpu_calls
	ldr	x16, [x16, #:lo12:anynpu_calls]
	add	x16, x16, x17, lsl #3
1:	ldxr	x9, [x16]
	add	x9, x9, #1
	stxr	w10, x9, [x16]
	cbnz	w10, 1b
	adrp	x16, anynpu_target
	add	x16, x16, #:lo12:anynpu_target
	ldr	x16, [x16, x17, lsl #3]
	br	x16
`,
	stub: "\tbti\tc\n\tadrp\tx16, :got:%[1]s\n\tldr\tx16, [x16, #:got_lo12:%[1]s]\n\tbr\tx16\n",
	first: `	stp	x29, x30, [sp, #-224]!
	.cfi_def_cfa_offset 224
	.cfi_offset x29, -224
	.cfi_offset x30, -216
	mov	x29, sp
	stp	x0, x1, [sp, #16]	/* every register that may carry an argument */
	stp	x2, x3, [sp, #32]
	stp	x4, x5, [sp, #48]
	stp	x6, x7, [sp, #64]
	str	x8, [sp, #80]		/* address of a result in memory */
	stp	q0, q1, [sp, #96]
	stp	q2, q3, [sp, #128]
	stp	q4, q5, [sp, #160]
	stp	q6, q7, [sp, #192]
	mov	w0, w16
	mov	x1, x30			/* where the call returns to */
	bl	anynpu_resolve
	mov	x16, x0
	ldp	x0, x1, [sp, #16]
	ldp	x2, x3, [sp, #32]
	ldp	x4, x5, [sp, #48]
	ldp	x6, x7, [sp, #64]
	ldr	x8, [sp, #80]
	ldp	q0, q1, [sp, #96]
	ldp	q2, q3, [sp, #128]
	ldp	q4, q5, [sp, #160]
	ldp	q6, q7, [sp, #192]
	ldp	x29, x30, [sp], #224
	.cfi_restore x29
	.cfi_restore x30
	.cfi_def_cfa_offset 0
	br	x16
`,
}

// mark is the ELF note by which capi/boundary/driver.c knows the library's own files.
const mark = `
	.section .note.anynpu, "a", %note
	.p2align 2
	.long 7, 4, 1	/* sizes of name and content, kind */
	.asciz "AnyNPU"
	.p2align 2
	.long 1
`

// padded is the property by which loaders allow indirect calls to marked places only. The core library has none: Go's
// compiler marks no function.
const padded = `
	.section .note.gnu.property, "a", %note
	.p2align 3
	.long 4, 16, 5	/* sizes of name and content, kind */
	.asciz "GNU"
	.long 0xc0000000, 4, 1, 0	/* features of AArch64, size, BTI */
`

const asmHead = "/* %s */\n\n%s\n\n\t.text\n"

// entries writes the exported entries, the first targets of their slots, and the jump table, which fills pages of its
// own.
func (img *image) entries(a arch) string {
	var b strings.Builder
	fmt.Fprintf(&b, asmHead, banner, `/*
 * Every exported function jumps through its slot. A slot first leads to anynpu_first, which keeps all argument registers, asks
 * anynpu_resolve for the function's target and goes on there; by then the slots of the facade hold their targets, unless its
 * driver is a device: then every call comes by anynpu_first. Where calls are counted, a slot holds count_N, which counts the call
 * and goes on to the function's target: two registers change that carry no argument, four on arm64.
 */`)
	b.WriteString(a.macros())
	fmt.Fprintf(&b, "\n\tFUNCTION anynpu_first\n%s\tEND anynpu_first\n\n", a.first)
	for _, fn := range img.funcs {
		switch {
		case fn.older != nil: // which leads here
		case img.stubbed(fn):
			fmt.Fprintf(&b, "\tSTUBBED %s, %d\n", fn.Name, fn.index)
		default:
			fmt.Fprintf(&b, "\tENTRY %s, %d\n", fn.Name, fn.index)
		}
	}
	b.WriteString("\n")
	for _, fn := range img.funcs {
		fmt.Fprintf(&b, "\tSTART %d\n", fn.index)
	}
	fmt.Fprintf(&b, "\n\tFUNCTION anynpu_count\n%s\tEND anynpu_count\n\n", a.count)
	for _, fn := range img.funcs {
		fmt.Fprintf(&b, "\tCOUNT %d\n", fn.index)
	}
	b.WriteString("\n\t.section .data.anynpu_slot, \"aw\", %progbits\n\t.p2align 12\n\t.globl anynpu_slot\n\t.hidden " +
		"anynpu_slot\n\t.type anynpu_slot, %object\nanynpu_slot:\n")
	for _, fn := range img.funcs {
		fmt.Fprintf(&b, "\t.quad start_%d\t/* %s */\n", fn.index, fn.Name)
	}
	b.WriteString("\t.p2align 12\n\t.size anynpu_slot, .-anynpu_slot\n\n\t.section .data.rel.ro.anynpu_counted, \"aw\", " +
		"%progbits\n\t.p2align 3\n\t.globl anynpu_counted\n\t.hidden anynpu_counted\n\t.type anynpu_counted, %object\n" +
		"anynpu_counted:\n")
	for _, fn := range img.funcs {
		fmt.Fprintf(&b, "\t.quad count_%d\n", fn.index)
	}
	b.WriteString("\t.size anynpu_counted, .-anynpu_counted\n" + mark + "\n\t.section .note.GNU-stack, \"\", %progbits\n")
	text := b.String()
	if a.name == "amd64" {
		text = strings.NewReplacer("%function", "@function", "%object", "@object", "%progbits", "@progbits", "%note",
			"@note").Replace(text)
	}
	return text
}

// macros are the shapes of the functions that the file has by hundreds.
func (a arch) macros() string {
	return `
	.macro FUNCTION name
	.p2align 4
	.type \name, %function
\name:
	.cfi_startproc
	.endm

	.macro END name
	.cfi_endproc
	.size \name, .-\name
	.endm

	.macro ENTRY name, index	/* an exported function */
	.globl \name
	FUNCTION \name
` + a.entry + `	END \name
	.endm

	.macro STUBBED name, index	/* one that a stub library leads to, by a name that no vendor's library has */
	.p2align 4
	.globl ` + entryPrefix + `\name
	.type ` + entryPrefix + `\name, %function
` + entryPrefix + `\name:
	ENTRY \name, \index
	.endm

	.macro START index	/* what a slot holds first */
	FUNCTION start_\index
` + a.start + `	END start_\index
	.endm

	.macro COUNT index	/* what it holds while calls are counted */
	FUNCTION count_\index
` + a.tally + `	END count_\index
	.endm
`
}
