package disk

import (
	"os"
	"path/filepath"
)

// CacheDir returns the folder for files that weft can make again. It is dir or, if that is "", the folder in
// WEFT_CACHE, or weft in the user's cache folder. It returns "" if there is none, or if it is "off".
func CacheDir(dir string) string {
	if dir == "" {
		dir = os.Getenv("WEFT_CACHE")
	}
	if dir == "off" {
		return ""
	}
	if dir == "" {
		user, err := os.UserCacheDir()
		if err != nil {
			return ""
		}
		dir = filepath.Join(user, "weft")
	}
	return dir
}
