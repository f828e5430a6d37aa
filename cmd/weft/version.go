package main

import (
	"fmt"
	"io"
	"runtime"

	"github.com/spf13/cobra"

	"github.com/weftgraph/weft"
)

func (a *app) versionCmd() *cobra.Command {
	return &cobra.Command{
		Use:   "version",
		Short: "print the version",
		Args:  takes(),
		RunE: func(*cobra.Command, []string) error {
			_, err := io.WriteString(a.text, versionText())
			return err
		},
	}
}

func versionText() string {
	return fmt.Sprintf("weft %s %s/%s %s\n", weft.Version(), runtime.GOOS, runtime.GOARCH, runtime.Version())
}
