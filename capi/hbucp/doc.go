// Package hbucp is the newest generation of Horizon's API: hbDNN with tasks and memory of UCP. Its common part with the
// older one, capi/hbdnn, is in capi/hb. Sections named in comments are those of docs/abi/hbucp.md; docs/hbucp.md says
// what is covered.
package hbucp
