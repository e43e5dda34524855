// Package hbdnn is the hbDNN and hbSys API: packs of models, the properties of their inputs and outputs, memory, and
// tasks that run models one after another by priority. Sections named in comments are those of
// docs/abi/hbdnn.md; docs/hbdnn.md says what is covered.
package hbdnn
