package graph

import "golang.org/x/sys/unix"

func hugePages(b []byte) { _ = unix.Madvise(b, unix.MADV_HUGEPAGE) }
