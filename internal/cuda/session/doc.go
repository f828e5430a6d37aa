// Package session is what every GPU engine needs around its kernels: the data
// graph resident in device memory, the control block through which a running
// kernel is watched and stopped, exact totals, match rows that the host takes
// while the kernel runs, and one search spread over several devices.
//
// An engine describes a run as a Job: generated text, globals, a number of
// tasks, and a function that launches. The session uploads what is not there
// yet, hands out tasks, watches, drains, adds up. It knows kernels and globals,
// and nothing of plans, patterns or engines.
//
// The device side is base/control.cuh, base/tasks.cuh, base/ring.cuh and base/steal.cuh of package
// kernels; layout.go here has the same structs.
//
// A number comes from a complete and faultless run on all devices, or is marked
// as a lower bound. Any error on any device ends the run on all of them.
package session
