// Package session runs a GPU engine's kernels and does the work around them. It keeps the data
// graph resident in device memory, watches and stops a running kernel through a control block,
// adds up exact totals, takes match rows while the kernel runs, and spreads one search over
// several devices.
//
// An engine describes a run as a Job: generated text, globals, a number of tasks, and a function
// that launches. The session uploads arrays that are not on the device yet, hands out tasks,
// watches the kernels and collects their results.
//
// It knows kernels, globals and relations' arrays. It must not know plans, patterns or engines.
//
// The device side is base/control.cuh, base/tasks.cuh, base/ring.cuh and base/steal.cuh of package
// kernels; layout.go here has the same structs.
//
// A number comes from a complete run without errors on all devices, or is marked as a lower bound.
// Any error on any device ends the run on all of them.
package session
