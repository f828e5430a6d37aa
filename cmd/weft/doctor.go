package main

import (
	"encoding/json"
	"fmt"
	"os"
	"runtime"
	"strings"

	"github.com/klauspost/cpuid/v2"
	"github.com/spf13/cobra"

	"github.com/weftgraph/weft"
	"github.com/weftgraph/weft/internal/cuda"
	"github.com/weftgraph/weft/internal/graph/partition"
	memlimit "github.com/weftgraph/weft/internal/memory"
	"github.com/weftgraph/weft/internal/native"
	"github.com/weftgraph/weft/internal/route"
	"github.com/weftgraph/weft/internal/runtime/code"
	"github.com/weftgraph/weft/internal/sink"
)

func (a *app) doctorCmd() *cobra.Command {
	var f commonFlags
	cmd := &cobra.Command{
		Use:   "doctor",
		Short: "report what weft can use on this machine, and what is missing",
		Long: `Report what weft can use on this machine: cores, vector instructions, memory,
engines, the GPU driver and compiler, each GPU, and the folder of compiled kernels.

` + exitCodesNoTimeout,
		Args: takes(),
		RunE: func(*cobra.Command, []string) error {
			if f.to != "" {
				if err := sink.CheckFormat(f.to); err != nil {
					return usagef("--to: %v", err)
				}
			}
			checks := examine()
			if f.to == "json" {
				text, err := json.MarshalIndent(checks, "", "  ")
				if err == nil {
					_, err = a.text.Write(append(text, '\n'))
				}
				return err
			}
			return writeRows(a.text, f.outFormat(), len(checks), []sink.Column{
				column("what", sink.String, func(i int) any { return checks[i].What }),
				column("found", sink.String, func(i int) any { return checks[i].Found }),
				column("advice", sink.String, func(i int) any { return checks[i].Advice }),
			})
		},
	}
	cmd.Flags().StringVar(&f.to, "to", "", "output format: "+strings.Join(sink.Formats, ", "))
	return cmd
}

// finding is one line of the doctor's report.
type finding struct {
	What   string `json:"what"`
	Found  string `json:"found"`
	Advice string `json:"advice,omitempty"`
}

func examine() []finding {
	out := []finding{
		{What: "weft", Found: weft.Version() + ", " + runtime.Version()},
		{What: "system", Found: runtime.GOOS + "/" + runtime.GOARCH},
		cores(),
		vectors(),
		memory(),
	}
	for _, e := range route.Engines() {
		out = append(out, finding{What: "engine " + e.Name, Found: e.Meaning})
	}
	return append(append(out, compiler(), metis()), gpus()...)
}

// metis is the library of weft partition --method metis.
func metis() finding {
	found, err := partition.FindMETIS()
	if err != nil {
		return finding{What: "METIS", Found: "none", Advice: err.Error()}
	}
	return finding{What: "METIS", Found: found}
}

// compiler is the one that generated C is compiled by.
func compiler() finding {
	c, err := native.C()
	if err != nil {
		return finding{What: "C compiler", Found: "none", Advice: err.Error()}
	}
	return finding{What: "C compiler", Found: c.Version}
}

func cores() finding {
	f := finding{What: "cores", Found: fmt.Sprintf("%d used of %d", runtime.GOMAXPROCS(0), runtime.NumCPU())}
	if runtime.GOMAXPROCS(0) < runtime.NumCPU() {
		f.Advice = "GOMAXPROCS or a container's limit holds weft to fewer cores than there are; --threads changes it"
	}
	return f
}

func vectors() finding {
	f := finding{What: "vector instructions"}
	var have []string
	for _, x := range []cpuid.FeatureID{cpuid.AVX2, cpuid.BMI2, cpuid.AVX512F, cpuid.AVX512BW, cpuid.AVX512VBMI2, cpuid.ASIMD, cpuid.SVE} {
		if cpuid.CPU.Supports(x) {
			have = append(have, x.String())
		}
	}
	if f.Found = strings.Join(have, " "); f.Found == "" {
		f.Found = "none that weft uses"
		f.Advice = "the portable code runs, slower"
	}
	return f
}

// memory reads Linux's figures of the machine's memory.
func memory() finding {
	f := finding{What: "memory", Found: "unknown"}
	data, err := os.ReadFile("/proc/meminfo")
	if err != nil {
		return f
	}
	var total, free int64
	for line := range strings.Lines(string(data)) {
		var kib int64
		if n, _ := fmt.Sscanf(line, "MemTotal: %d kB", &kib); n == 1 {
			total = kib
		}
		if n, _ := fmt.Sscanf(line, "MemAvailable: %d kB", &kib); n == 1 {
			free = kib
		}
	}
	f.Found = fmt.Sprintf("%.1f GiB, %.1f available", float64(total)/(1<<20), float64(free)/(1<<20))
	if limits := memlimit.Limits(); len(limits) > 0 && limits[0].Bytes < uint64(total)<<10 {
		f.Advice = fmt.Sprintf("%v: weft gives up with exit code 5 before it needs more", limits[0])
	}
	return f
}

// gpus are the findings of package cuda. GPUs are optional, so nothing here is an error.
func gpus() []finding {
	var out []finding
	for _, f := range cuda.Report(code.New(code.Folder(""))) {
		out = append(out, finding(f))
	}
	return out
}
