//go:build race

package main

// underRace says that the interpreter, which is code like any other, is ten times
// slower than it is. The program that is a process is built without the detector.
const underRace = true
