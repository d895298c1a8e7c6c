package git

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
)

// SafePath is a PATH without the directories in which foreign code can put a program of its own, which would then run with our
// rights: those inside of the given ones, and those that anybody may write. GitHub's own runners begin PATH with such directories
// (https://github.com/actions/runner-images/blob/main/images/ubuntu/scripts/build/configure-system.sh makes all of /opt writable).
// What is not there is left out too, since it could appear later.
func SafePath(path string, foreign ...string) string {
	for i, dir := range foreign {
		foreign[i] = real(dir)
	}
	safe := slices.DeleteFunc(filepath.SplitList(path), func(dir string) bool {
		at := real(dir)
		return at == "" || !filepath.IsAbs(dir) || slices.ContainsFunc(foreign, func(in string) bool { return in != "" && strings.HasPrefix(at+"/", in+"/") }) || anybodysIs(at)
	})
	return strings.Join(safe, string(filepath.ListSeparator))
}

// real is the path of a directory without symbolic links; "": there is none.
func real(dir string) string {
	if dir == "" {
		return ""
	}
	at, err := filepath.EvalSymlinks(dir)
	if err != nil {
		return ""
	}
	return at
}

// anybodysIs says that anybody may put something else in the place of a directory, or into it. In a directory with the sticky bit
// only owners do the former.
func anybodysIs(dir string) bool {
	for at := dir; ; at = filepath.Dir(at) {
		info, err := os.Lstat(at)
		if err != nil || info.Mode().Perm()&0o002 != 0 && (at == dir || info.Mode()&os.ModeSticky == 0) {
			return true
		}
		if at == filepath.Dir(at) {
			return false
		}
	}
}
