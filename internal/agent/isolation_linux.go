package agent

import (
	"cmp"
	"os"
	"os/user"
	"path/filepath"
	"slices"
	"strings"

	"github.com/mergexo/mergexo/internal/agent/isolate"
)

// hidden are directories with users' credentials or services' sockets.
var hidden = []string{"/tmp", "/var/tmp", "/run", "/var/run", "/root", "/var/lib/docker", "/var/lib/lxd", "/var/lib/incus", "/var/snap/lxd"}

// within limits the part of the file system that a program sees, as the level demands.
func (opt Options) within(spec *isolate.Spec, dir, program string) {
	hide := append(slices.Clone(hidden), runners(dir, opt.Temp)...)
	switch opt.level() {
	case LevelUser: // what is not hidden is kept from it by the permissions of other users' files
		spec.View = opt.over(dir, program, hide)
	case LevelNamespace:
		if u, err := user.Current(); err == nil {
			hide = append(hide, u.HomeDir)
		}
		if home := value(opt.Isolation.opt.Env, "HOME"); !opt.systems(home, program) {
			hide = append(hide, home)
		}
		spec.Namespace = opt.over(dir, program, hide)
	}
}

// runners are the directories of the runner: its credentials are there, its command files, and the keys of other steps.
func runners(dir, ours string) (dirs []string) {
	if ours != "" {
		temp := filepath.Dir(ours)
		dirs = append(dirs, temp)
		if runner := filepath.Dir(filepath.Dir(temp)); isRunners(runner) { // whatever its work directory is called
			dirs = append(dirs, runner)
		}
	}
	if runner, _, ok := strings.Cut(dir, "/_work/"); ok {
		dirs = append(dirs, runner)
	}
	return dirs
}

// systems says that a directory is one of the system's or has programs in it, which nobody can do without, and is no home.
func (opt Options) systems(dir, program string) bool {
	dir, _ = existing(dir)
	needed := append(filepath.SplitList(value(opt.Env, "PATH")), filepath.Dir(program), "/usr", "/usr/lib", "/lib", "/lib64", "/etc")
	return slices.ContainsFunc(needed, func(one string) bool {
		path, ok := existing(one)
		return ok && path == dir
	})
}

// over is the file system with some directories hidden, except for what a program needs of them.
func (opt Options) over(dir, program string, hide []string) *isolate.Namespace {
	n := &isolate.Namespace{Hide: outermost(hide)}
	covered := append(slices.Clone(n.Hide), "/dev") // /dev gets a mount of its own
	for _, one := range append([]string{dir, opt.Temp, opt.Sessions, opt.ownHome()}, opt.Also...) {
		if path, ok := existing(one); ok && (one == dir || notALink(one) == nil) {
			n.Write = append(n.Write, path)
		}
	}
	n.Cover = slices.DeleteFunc(sockets(), func(path string) bool { return below(path, n.Hide) || below(path, n.Write) })
	foreign := append(slices.DeleteFunc([]string{dir, opt.Temp, opt.Sessions}, func(dir string) bool { return dir == "" }), n.Write...)
	places := append(filepath.SplitList(value(opt.Env, "PATH")), filepath.Dir(program))
	for _, one := range places {
		if below(filepath.Clean(one), foreign) { // it is there, and an earlier agent can have made it a link to what is hidden
			continue
		}
		if path, ok := existing(one); ok && below(path, covered) {
			n.Show = append(n.Show, path, beside(path))
			n.Show = append(n.Show, linked(path, covered, append(foreign, places...))...)
		}
	}
	for _, one := range opt.Reads {
		if path, ok := existing(one); ok && below(path, covered) {
			n.Show = append(n.Show, path)
		}
	}
	if real, err := filepath.EvalSymlinks("/etc/resolv.conf"); err == nil && below(real, covered) {
		n.Show = append(n.Show, real)
	}
	slices.SortFunc(n.Show, shortest)
	n.Show = slices.Compact(n.Show)
	slices.SortFunc(n.Write, shortest)
	return n
}

// manifests are files of packages that lie anywhere: pipx's, and Codex's without npm.
var manifests = []string{"pyvenv.cfg", "codex-package.json"}

// beside is the directory of a program with the files that it needs: the whole package, or the libraries next to a directory of programs.
func beside(dir string) string {
	whole := filepath.Dir(dir)
	switch {
	case filepath.Base(dir) != "bin":
		return dir
	case strings.Contains(dir, "/_tool/"), strings.Contains(dir, "/node_modules/"), slices.ContainsFunc(manifests, func(name string) bool { // the runner's tool cache, npm
		_, err := os.Lstat(filepath.Join(whole, name))
		return err == nil
	}):
		return whole
	}
	return filepath.Join(whole, "lib") // the rest can be a home, or a runner with its credentials
}

// linked lists the hidden directories behind the links in a directory of PATH. Package managers make such links.
func linked(dir string, covered, except []string) (all []string) {
	entries, _ := os.ReadDir(dir)
	for _, e := range entries {
		real, err := filepath.EvalSymlinks(filepath.Join(dir, e.Name()))
		place := filepath.Dir(real)
		if e.Type()&os.ModeSymlink != 0 && err == nil && below(place, covered) && !below(real, except) {
			all = append(all, place, beside(place))
		}
	}
	slices.Sort(all)
	return slices.Compact(all)
}

// isRunners says that a directory is that of a self-hosted runner, which keeps its credentials there
// (https://github.com/actions/runner/blob/main/src/Runner.Common/Constants.cs names the files).
func isRunners(dir string) bool {
	return slices.ContainsFunc([]string{".runner", ".credentials"}, func(name string) bool {
		_, err := os.Lstat(filepath.Join(dir, name))
		return err == nil
	})
}

func shortest(a, b string) int { return cmp.Or(len(a)-len(b), strings.Compare(a, b)) }

// existing is a directory's real path.
func existing(dir string) (string, bool) {
	if !filepath.IsAbs(dir) {
		return "", false
	}
	path, err := filepath.EvalSymlinks(dir)
	if err != nil {
		return "", false
	}
	info, err := os.Stat(path)
	return path, err == nil && info.IsDir()
}

// below reports whether a path is strictly inside one of some directories.
func below(path string, dirs []string) bool {
	return slices.ContainsFunc(dirs, func(dir string) bool { return strings.HasPrefix(path, dir+"/") })
}

// outermost are the existing directories, by real path, that are in no other one of them.
func outermost(dirs []string) []string {
	var all []string
	for _, dir := range dirs {
		if path, ok := existing(dir); ok && path != "/" {
			all = append(all, path)
		}
	}
	slices.Sort(all)
	all = slices.Compact(all)
	return slices.DeleteFunc(slices.Clone(all), func(path string) bool { return below(path, all) })
}

// sockets lists the paths of all Unix sockets that are bound to a file (https://man7.org/linux/man-pages/man5/proc_net.5.html).
func sockets() []string {
	text, _ := os.ReadFile("/proc/net/unix") // without it nobody can tell
	var all []string
	for line := range strings.Lines(string(text)) {
		if _, path, ok := strings.Cut(strings.TrimSuffix(line, "\n"), " /"); ok {
			all = append(all, "/"+path)
		}
	}
	slices.Sort(all)
	return slices.Compact(all)
}

// tryView makes the file system of an agent once, as whoever makes it, and leaves it at once.
func (opt Options) tryView(as *account) error {
	spec := isolate.Spec{Task: isolate.Reach}
	opt.within(&spec, "", running)
	_, err := opt.call(as, spec)
	return err
}
