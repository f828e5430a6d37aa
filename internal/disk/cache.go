package disk

import (
	"os"
	"path/filepath"
)

// CacheDir is the folder for what weft may make again: dir, or where that is "" the folder that WEFT_CACHE names, or
// weft in the user's cache folder. It is "" where there is none, or it is to be "off".
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
