// Package hb holds the part that the two generations of Horizon's API have in common: memory, tasks and the queue that
// orders them, packs of models and their executions, and the codes of errors. A façade speaks its generation's words,
// which are an API here, and has its structs; capi/hbdnn and capi/hbucp are the façades. Sections named in comments are
// those of docs/abi/hbdnn.md.
package hb
