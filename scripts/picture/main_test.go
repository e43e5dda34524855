package main

import (
	"encoding/xml"
	"io"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

func TestDraw_isXMLWithEveryBox(t *testing.T) {
	layers, err := parse("# nothing\n~a: 1 < 2 *2 | b: x\n\nc: y & z\n")
	require.NoError(t, err)
	assert.Equal(t, [][]box{{{"a", "1 < 2", true, 2}, {"b", "x", false, 1}}, {{"c", "y & z", false, 1}}}, layers)
	text := draw(layers)
	rects := 0
	for d := xml.NewDecoder(strings.NewReader(text)); ; {
		token, err := d.Token()
		if err == io.EOF {
			break
		}
		require.NoError(t, err)
		if e, ok := token.(xml.StartElement); ok && e.Name.Local == "rect" {
			rects++
		}
	}
	assert.Equal(t, 3, rects)
}

func TestParse_refuses(t *testing.T) {
	for text, want := range map[string]string{"": "no layers", "title": `line 1: "title" has no title`,
		"a: b *x": `line 1: "*x" is no width`, "a: b *0": "is no width"} {
		_, err := parse(text)
		assert.ErrorContains(t, err, want, text)
	}
}
