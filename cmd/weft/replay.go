package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"strconv"
	"strings"

	"github.com/spf13/cobra"

	"github.com/weftgraph/weft"
	"github.com/weftgraph/weft/internal/stream"
	"github.com/weftgraph/weft/internal/vfs"
)

// replayFlags are the flags of replay.
type replayFlags struct {
	out, from, unit, onError, speed string
	pace                            stream.Pace
}

func (a *app) replayCmd() *cobra.Command {
	var f replayFlags
	cmd := &cobra.Command{
		Use:   "replay UPDATES [-o FILE] [flags]",
		Short: "write recorded updates at the pace of their times",
		Long: `Write recorded updates at the pace of their times, or faster, so that a program that
reads them sees them arrive. UPDATES is a file, also one compressed by gzip or zstd,
or - for standard input. Each line is written as it is, when it is due; blank lines
and comments are left out. A row of an Arrow or Parquet table is written as NDJSON.

Without flags the first update is written at once, and each other one as much later
as its time is later. --speed 10 is ten times as fast. --speed max does not wait.
--rate N writes N updates in a second, whatever their times are.

Times are dates, or numbers: Unix times in seconds, milliseconds, microseconds or
nanoseconds are recognised by the first of them, and other numbers are seconds.
--unit says otherwise.

When it is interrupted, it says how many updates were written; with -o they are
kept as FILE.partial.

` + exitCodesNoTimeout,
		Example: `  weft replay updates.txt.zst
  weft replay updates.ndjson --speed 10
  zcat updates.gz | weft replay - --rate 1000`,
		Args: takes("UPDATES, a file"),
		RunE: func(cmd *cobra.Command, args []string) error {
			given := cmd.Flags().Changed
			switch {
			case given("rate") && given("speed"):
				return usagef("--rate and --speed: one of them decides when updates are written")
			case given("rate") && !(f.pace.Rate > 0 && f.pace.Rate <= 1e12):
				return usagef("--rate %v: want a number of updates in a second, above 0", f.pace.Rate)
			case f.speed != "max" && !given("rate"):
				x, err := strconv.ParseFloat(f.speed, 64)
				if err != nil || !(x > 0 && x <= 1e12) {
					return usagef("--speed %q: want max, or a number above 0, as 10", f.speed)
				}
				f.pace.Speed = x
			}
			if _, err := stream.ParseFormat(f.from); err != nil {
				return usagef("--updates: %v%s", err, didYouMean(f.from, stream.Formats()))
			}
			if err := checkFiles(a.ctx, f.out); err != nil {
				return err
			}
			if err := keepInputs(a.ctx, args, f.out); err != nil {
				return err
			}
			return a.replay(&f, args[0])
		},
	}
	fs := cmd.Flags()
	fs.StringVar(&f.speed, "speed", "1", "`HOW` much faster than by their times updates are written: a number, or max")
	fs.Float64Var(&f.pace.Rate, "rate", 0, "write `N` updates in a second, whatever their times are")
	fs.Var(oneOf{&f.unit, []string{"auto", "s", "ms", "us", "ns"}}, "unit", "`UNIT` of times that are numbers: s, ms, us, ns, or auto")
	fs.StringVar(&f.from, "updates", "auto", "format of the updates: "+strings.Join(stream.Formats(), ", "))
	fs.Var(oneOf{&f.onError, []string{"fatal", "skip"}}, "on-error", "`WHAT` follows from a line that is not an update: fatal (default), or skip, which counts it")
	fs.VarP(&once{to: &f.out}, "output", "o", "write to `FILE`, which appears when it is complete; default standard output")
	return cmd
}

func (a *app) replay(f *replayFlags, path string) error {
	from, _ := stream.ParseFormat(f.from)
	o := stream.Options{Format: from, TextIDs: true, Lateness: -1, Times: stream.Times{Nanoseconds: true}}
	if f.unit != "" && f.unit != "auto" {
		o.Times, _ = stream.InNanoseconds(f.unit)
	}
	r, err := stream.Open(a.ctx, vfs.From(a.ctx), path, a.stdin, o, nil)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return kindf(weft.ErrInput, "%s: no such file", path)
	case err != nil && a.ctx.Err() == nil:
		return kindf(weft.ErrInput, "%w", err)
	case err != nil:
		return a.whileReading(a.ctx, path, err)
	}
	defer r.Close()
	for _, text := range r.Notes() {
		fmt.Fprintf(a.stderr, "weft: %s\n", text)
	}
	out, err := a.open(f.out, 0)
	if err != nil {
		return err
	}
	src := &inputSource{File: r, ctx: a.ctx}
	if f.pace.Speed > 0 {
		src.unit = func(unit string) {
			fmt.Fprintf(a.stderr, "weft: numbers are taken as times in %s (--unit says otherwise)\n", unit)
		}
	}
	skipped := make([]uint64, stream.Kinds)
	n, err := stream.Replay(a.ctx, src, out, f.pace, stream.SystemClock{}, func(bad *stream.InputError) error {
		if f.onError != "skip" {
			return kindf(weft.ErrInput, "%w", bad)
		}
		if skipped[bad.Kind]++; skipped[bad.Kind] == 1 {
			fmt.Fprintf(a.stderr, "weft: skipped: %v\n", bad)
		}
		return nil
	})
	if total := skippedLines(skipped); total != "" {
		fmt.Fprintf(a.stderr, "weft: %s\n", total)
	}
	if errors.Is(err, stream.ErrNoTimes) {
		err = kindf(weft.ErrInput, "%s: %w; --rate N or --speed max writes them nevertheless", path, err)
	}
	if err == nil {
		return out.finish(nil)
	}
	if errors.Is(context.Cause(a.ctx), errInterrupted) {
		fmt.Fprintf(a.stderr, "weft: interrupted: %s written\n", plural(n, "update"))
		name, partErr := out.partial()
		if partErr != nil {
			return partErr
		}
		if name != "" {
			fmt.Fprintf(a.stderr, "weft: %s has them\n", name)
		}
		return exitError(exitInterrupted)
	}
	if n > 0 && (f.out == "" || f.out == "-") {
		fmt.Fprintf(a.stderr, "weft: %s written before the error\n", plural(n, "update"))
	}
	return out.finish(err)
}

// skippedLines says how many lines of each kind were skipped.
func skippedLines(by []uint64) string {
	var parts []string
	total := uint64(0)
	for k, n := range by {
		if n > 0 {
			total += n
			parts = append(parts, fmt.Sprintf("%s %d", stream.Kind(k), n))
		}
	}
	if total == 0 {
		return ""
	}
	return fmt.Sprintf("skipped %s: %s", plural(total, "line"), strings.Join(parts, ", "))
}

// inputSource marks the errors of reading updates as errors of the input, and says in which unit the first time is.
type inputSource struct {
	*stream.File
	ctx  context.Context
	unit func(string) // until it was called
}

func (s *inputSource) Next(u *stream.Update) error {
	err := s.File.Next(u)
	if s.unit != nil && s.TimeUnit() != "" {
		s.unit(s.TimeUnit())
		s.unit = nil
	}
	if err == nil || err == io.EOF || s.ctx.Err() != nil {
		return err
	}
	return kindf(weft.ErrInput, "%w", err)
}
