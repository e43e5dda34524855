package statements

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

const text = `# api 1 Calls
api 1.1 | one | rules s1_a s1_b/case; operators A*
api 1.2 | two | - nobody sees it

# api 2 More
api 2.1 | three | operators ABS/x
`

func TestRead(t *testing.T) {
	l, err := Read(strings.NewReader(text))
	require.NoError(t, err)
	all, shown := l.Count()
	assert.Equal(t, [2]int{3, 2}, [2]int{all, shown})
	assert.Equal(t, []Source{{"rules", []string{"s1_a", "s1_b/case"}}, {"operators", []string{"A*"}}},
		l[0].Statements[0].Shown)
	table := l.Table("API")
	assert.Contains(t, table, "| 1.1 | one | rules `s1_a` `s1_b/case`; operators `A*` |\n")
	assert.Contains(t, table, "| 1.2 | two | not observable: nobody sees it |\n")
	assert.Contains(t, table, "\n## api 2: More\n")
}

func TestRead_refuses(t *testing.T) {
	for _, bad := range []string{
		"api 1.1 | one | rules a", "# api 1\n", "# api 1 Calls\napi 1.1 | one", "# api 1 Calls\napi 1.1 | one | rules",
		"# api 1 Calls\napi 2.1 | one | rules a", "# api 1 Calls\napi 1.1 | one | rules a\napi 1.1 | two | rules a",
		"# api 1 Calls\napi 1.1 | one | -",
	} {
		_, err := Read(strings.NewReader(bad))
		assert.Error(t, err, bad)
	}
}

func TestCheck(t *testing.T) {
	l, err := Read(strings.NewReader(text))
	require.NoError(t, err)
	known := map[string][]string{"rules": {"s1_a/x", "s1_b/case"}, "operators": {"ABS/x/near", "ADD/y"}}
	require.NoError(t, l.Check(known))
	known["rules"] = []string{"s1_ab/x", "s1_b/case"}
	require.ErrorContains(t, l.Check(known), "api 1.1: rules has no s1_a")
	delete(known, "operators")
	require.ErrorContains(t, l.Check(known), "api 2.1: operators has no ABS/x")
}
