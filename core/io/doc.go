// Package io is the one way in and out for a program's memory, whatever API the program was written for. Zero copy is
// the rule: an Execution binds what a program has at a port as it lies, and lets results be written in place. Data that
// core cannot take as it lies are converted to memory that an input keeps from run to run; a result goes to the
// program's memory after the run where its elements are converted, or where another operand shares that memory. The
// APIs keep their names, codes, the order of their checks and their states.
package io
