package hbucp

import _ "embed"

// free are the cases that need no model.
//
//go:embed zfree.txt
var free string
