//go:build !unix

package sink

import "os"

func umask() os.FileMode { return 0 }
