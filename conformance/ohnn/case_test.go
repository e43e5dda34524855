package ohnn

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"os"
	"os/exec"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/anynpu/anynpu/core/tensor"
	"github.com/anynpu/anynpu/internal/leak"
)

// fewest is the number of counting cases that every operator must have.
const fewest = 8

func TestCases_coverEveryOperator(t *testing.T) {
	cases, err := loaded()
	require.NoError(t, err)
	counts := Counts(cases)
	rejects := map[string]int{}
	ids, open := map[string]bool{}, map[string]bool{}
	for _, c := range cases {
		assert.False(t, ids[c.ID()], "two cases %s", c.ID())
		ids[c.ID()] = true
		if c.Reject != nil {
			rejects[c.Op]++
		} else if c.open() {
			open[c.Op] = true
		}
		for i := range c.Tensors {
			x := &c.Tensors[i]
			_, known := dataTypes[x.Type]
			assert.True(t, known, "%s: tensor %d: type %q", c.ID(), i, x.Type)
			_, known = tensorTypes[x.Param]
			assert.True(t, known || x.Param == "", "%s: tensor %d: parameter %q", c.ID(), i, x.Param)
		}
	}
	for op := range operators {
		assert.GreaterOrEqual(t, counts[op], fewest, "%s", op)
		assert.True(t, open[op], "%s has no case with an open dimension", op)
		assert.GreaterOrEqual(t, rejects[op], 1, "%s has no case that must be refused", op)
	}
}

// reals returns the numbers of floats.
func reals(f ...float64) []Number {
	out := make([]Number, len(f))
	for i, x := range f {
		out[i] = Real(x)
	}
	return out
}

func TestFinder_findsEveryCase(t *testing.T) {
	cases, err := loaded()
	require.NoError(t, err)
	f := finder{}
	for _, c := range cases {
		got, err := f.find(c.ID())
		require.NoError(t, err)
		assert.Equal(t, c.Signature(), got.Signature())
	}
	_, err = f.find("ADD/none")
	assert.ErrorContains(t, err, `no case "ADD/none"`)
	_, err = f.find("NONE/none")
	assert.Error(t, err)
}

func TestCases_judgeEachKindStaticAndDynamic(t *testing.T) {
	cases, err := loaded()
	require.NoError(t, err)
	for _, s := range Judged(cases) {
		assert.NotEmpty(t, s.Static, "%s", s.Op)
		for _, k := range Kinds() {
			assert.Equal(t, s.Static[k], s.Dynamic[k], "%s %v: a case with known dimensions, and one with open ones", s.Op, k)
		}
	}
}

func TestJudged_needsATellingResult(t *testing.T) {
	tensors := func(out ...float64) []Tensor {
		return []Tensor{{Type: "uint16", Dims: []int32{2}, Feed: &Body{[]int32{2}, reals(1, 2)}},
			{Type: "uint16", Dims: []int32{2}, Expect: &Body{[]int32{2}, reals(out...)}}}
	}
	kinds := func(c *Case) (static, dynamic bool) {
		c.In, c.Out = []uint32{0}, []uint32{1}
		for _, s := range Judged([]*Case{c}) {
			if s.Op == c.Op {
				return s.Static[Kind{"uint16", false}], s.Dynamic[Kind{"uint16", false}]
			}
		}
		return false, false
	}
	open := tensors(2, 1)
	open[0].Dims = []int32{-1}
	for _, tc := range []struct {
		name            string
		c               *Case
		static, dynamic bool
	}{
		{"computed", &Case{Op: "SQUARE", Tensors: tensors(1, 4)}, true, false},
		{"a copy", &Case{Op: "SQUARE", Tensors: tensors(1, 2)}, false, false},
		{"constant", &Case{Op: "SQUARE", Tensors: tensors(1, 1)}, false, false},
		{"a copy by definition", &Case{Op: "CEIL", Tensors: tensors(1, 2)}, true, false},
		{"a refusal", &Case{Op: "CEIL", Tensors: tensors(1, 2), Reject: &Reject{}}, false, false},
		{"an open input", &Case{Op: "SQUARE", Tensors: open}, false, true},
	} {
		static, dynamic := kinds(tc.c)
		assert.Equal(t, tc.static, static, tc.name)
		assert.Equal(t, tc.dynamic, dynamic, tc.name)
	}
}

func TestCompare_tolerances(t *testing.T) {
	float := &Tensor{Type: "float32"}
	c := &Case{Rel: 1e-5, Abs: 1e-6, Steps: 1}
	nan, inf := math.NaN(), math.Inf(1)
	assert.NoError(t, c.compare(reals(1.000009, nan, inf), reals(1, nan, inf), float))
	assert.Error(t, c.compare(reals(1.00002), reals(1), float))
	assert.Error(t, c.compare(reals(nan), reals(1), float))
	assert.Error(t, c.compare(reals(1e38), reals(inf), float))
	q := &Tensor{Type: "int8", Quant: &Quant{}}
	assert.NoError(t, c.compare(reals(5), reals(4), q))
	assert.Error(t, c.compare(reals(6), reals(4), q))
	assert.Error(t, c.compare(reals(5), reals(4), &Tensor{Type: "int8"}), "plain integers are exact")
	assert.Error(t, c.compare([]Number{Int(math.MaxInt64 - 1)}, []Number{Int(math.MaxInt64)}, &Tensor{Type: "int64"}),
		"to the last of 64 bits")
}

func TestEncode_roundTrip(t *testing.T) {
	for name, d := range dataTypes {
		if d.dtype == tensor.Bool { // any byte but 0 is true
			continue
		}
		got, err := decode(encode(reals(0, 1, 100), d.dtype), d.dtype, 3)
		require.NoError(t, err, name)
		assert.Equal(t, reals(0, 1, 100), got, name)
	}
	got, err := decode(encode(reals(-1.5), tensor.Float16), tensor.Float16, 1)
	require.NoError(t, err)
	assert.Equal(t, reals(-1.5), got)
}

func TestNumber_keeps64Bits(t *testing.T) {
	var v []Number
	require.NoError(t,
		json.Unmarshal([]byte(`[18446744073709551615, -9223372036854775808, 9007199254740993, 0.5, "-inf"]`), &v))
	assert.Equal(t, "[18446744073709551615 -9223372036854775808 9007199254740993 0.5 -Inf]", fmt.Sprint(v))
	for _, d := range []tensor.DType{tensor.Uint64, tensor.Int64} {
		got, err := decode(encode(v[:3], d), d, 3)
		require.NoError(t, err)
		for i := range got {
			assert.Equal(t, v[i].Int, got[i].Int)
		}
	}
}

// The test binary stands in for the child: it answers, fails, dies or hangs as the case's name says.
func TestMain(m *testing.M) {
	if os.Getenv("CTS_FAKE_CHILD") == "" {
		os.Exit(leak.Run(m, nil))
	}
	os.Stdout.WriteString(`{"device":"fake","version":"7"}` + "\n")
	var id []byte
	for b := make([]byte, 1); ; {
		if _, err := os.Stdin.Read(b); err != nil {
			os.Exit(0)
		}
		if b[0] != '\n' {
			id = append(id, b[0])
			continue
		}
		status := "pass"
		switch {
		case bytes.HasSuffix(id, []byte("lacks")):
			status = "skip"
		case bytes.HasSuffix(id, []byte("die")):
			os.Stderr.WriteString("last words\n")
			os.Exit(139)
		case bytes.HasSuffix(id, []byte("hang")):
			select {}
		}
		os.Stdout.WriteString(`{"id":"` + string(id) + `","status":"` + status + `"}` + "\n")
		id = nil
	}
}

func TestRunner_deathAndHangAreResults(t *testing.T) {
	bound := func(id string) time.Duration {
		if strings.HasSuffix(id, "hang") {
			return 200 * time.Millisecond
		}
		return DefaultTimeout
	}
	r := &Runner{Library: "fake", Workers: 2, bound: bound, Command: func() *exec.Cmd {
		c := exec.Command(os.Args[0])
		c.Env = append(os.Environ(), "CTS_FAKE_CHILD=1")
		return c
	}}
	var cases []*Case
	for _, n := range []string{"a", "die", "b", "hang", "c", "lacks"} {
		cases = append(cases, &Case{Op: "ADD", Name: n})
	}
	rep, err := r.Run(cases)
	require.NoError(t, err)
	var got []Status
	for _, x := range rep.Results {
		got = append(got, x.Status)
	}
	assert.Equal(t, []Status{Pass, Crash, Pass, Hang, Pass, Skip}, got)
	assert.Contains(t, rep.Results[1].Message, "last words")
	assert.Equal(t, "fake", rep.Device)
	var junit bytes.Buffer
	require.NoError(t, rep.WriteJUnit(&junit))
	assert.Contains(t, junit.String(), `tests="6" failures="2" skipped="1"`)
	assert.Contains(t, junit.String(), `<property name="version" value="7"></property>`)
	assert.Contains(t, junit.String(), "<skipped ")
}

func TestRunner_unusableLibrary(t *testing.T) {
	_, err := open("no/such/library.so")
	require.Error(t, err)
	r := &Runner{Library: "x", Timeout: time.Second, Command: func() *exec.Cmd { return exec.Command("/bin/false") }}
	_, err = r.Run([]*Case{{Op: "ADD", Name: "a"}})
	assert.ErrorContains(t, err, "cannot use x")
	assert.False(t, errors.Is(err, os.ErrNotExist))
}
