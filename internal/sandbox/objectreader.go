package sandbox

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"sync"
)

// objectReader asks one git process for objects, as often as somebody wants to know: most of what a sandbox is asked for is
// one object, and a process for each would take longer than all the rest.
// https://git-scm.com/docs/git-cat-file#Documentation/git-cat-file.txt---batch-command
type objectReader struct {
	dir string

	mu  sync.Mutex
	cmd *exec.Cmd
	in  io.WriteCloser
	out *bufio.Reader
}

// foundObject is an object without its content.
type foundObject struct {
	sha, kind string
	size      int
}

// errNoObject is a name that names no object, or several.
var errNoObject = errors.New("there is no such object")

// awake are the readers whose processes run, the one that was asked last at the end. Many sandboxes in one process, as tests
// have them, would else keep hundreds of idle ones.
var awake struct {
	sync.Mutex
	readers []*objectReader
}

const mostAwake = 16

// wake notes that a reader, which its caller holds, is asked. Over the limit it ends the process of one that has long been idle.
func wake(o *objectReader) {
	awake.Lock()
	defer awake.Unlock()
	awake.readers = append(slices.DeleteFunc(awake.readers, func(other *objectReader) bool { return other == o }), o)
	for len(awake.readers) > mostAwake {
		i := slices.IndexFunc(awake.readers, func(idle *objectReader) bool { return idle.mu.TryLock() })
		if i < 0 {
			return
		}
		awake.readers[i].stop()
		awake.readers[i].mu.Unlock()
		awake.readers = slices.Delete(awake.readers, i, i+1)
	}
}

// find resolves what git rev-parse understands: "main", "main:path", a SHA with "^{commit}".
func (o *objectReader) find(rev string) (foundObject, error) {
	o.mu.Lock()
	defer o.mu.Unlock()
	return o.ask("info", rev)
}

// read gives an object with its content, as git stores it.
func (o *objectReader) read(rev string) (foundObject, []byte, error) {
	o.mu.Lock()
	defer o.mu.Unlock()
	found, err := o.ask("contents", rev)
	if err != nil {
		return found, nil, err
	}
	data := make([]byte, found.size+1) // a newline follows
	if _, err := io.ReadFull(o.out, data); err != nil {
		o.stop()
		return found, nil, fmt.Errorf("read object %s: %w", rev, err)
	}
	return found, data[:found.size], nil
}

var objectLine = regexp.MustCompile(`^([0-9a-f]{40}) (commit|tree|blob|tag) (\d+)\n$`)

func (o *objectReader) ask(command, rev string) (foundObject, error) {
	if strings.ContainsAny(rev, "\n\x00") || rev == "" {
		return foundObject{}, errNoObject // it would be another question
	}
	wake(o)
	if err := o.start(); err != nil {
		return foundObject{}, err
	}
	_, err := fmt.Fprintf(o.in, "%s %s\n", command, rev)
	line := ""
	if err == nil {
		line, err = o.out.ReadString('\n')
	}
	if err != nil {
		o.stop()
		return foundObject{}, fmt.Errorf("ask git for %s: %w", rev, err)
	}
	m := objectLine.FindStringSubmatch(line)
	if m == nil {
		return foundObject{}, errNoObject
	}
	size, err := strconv.Atoi(m[3])
	return foundObject{m[1], m[2], size}, err
}

func (o *objectReader) start() error {
	if o.cmd != nil {
		return nil
	}
	cmd := exec.Command("git", "cat-file", "--batch-command")
	cmd.Dir, cmd.Env = o.dir, gitEnv()
	in, err := cmd.StdinPipe()
	if err != nil {
		return fmt.Errorf("start git cat-file: %w", err)
	}
	out, err := cmd.StdoutPipe()
	if err != nil {
		return fmt.Errorf("start git cat-file: %w", err)
	}
	if err := cmd.Start(); err != nil {
		return fmt.Errorf("start git cat-file: %w", err)
	}
	o.cmd, o.in, o.out = cmd, in, bufio.NewReader(out)
	return nil
}

// stop ends the process; the next question starts another one.
func (o *objectReader) stop() {
	if o.cmd == nil {
		return
	}
	_ = o.in.Close()
	_ = o.cmd.Wait() // it ends with its input
	o.cmd, o.in, o.out = nil, nil, nil
}

func (o *objectReader) close() {
	o.mu.Lock()
	defer o.mu.Unlock()
	o.stop()
	awake.Lock()
	defer awake.Unlock()
	awake.readers = slices.DeleteFunc(awake.readers, func(other *objectReader) bool { return other == o })
}

// objects is the reader of a repository.
func (g gitStore) objects(r *Repository) *objectReader {
	o, _ := g.readers.LoadOrStore(r.ID, &objectReader{dir: g.path(r)})
	return o.(*objectReader)
}

// stopReaders ends all that read objects.
func (g gitStore) stopReaders() {
	g.readers.Range(func(_, o any) bool {
		o.(*objectReader).close()
		return true
	})
}

// readRefs gives all refs of a repository by full name: the files of their own, and for others what packed-refs says
// (https://git-scm.com/docs/gitrepository-layout). In this order, since git writes packed-refs before it takes the files away.
func (g gitStore) readRefs(r *Repository) (map[string]string, error) {
	dir, refs := g.path(r), map[string]string{}
	err := filepath.WalkDir(filepath.Join(dir, "refs"), func(path string, d os.DirEntry, err error) error {
		if errors.Is(err, os.ErrNotExist) {
			return nil // it was deleted meanwhile
		}
		if err != nil || d.IsDir() || strings.HasSuffix(path, ".lock") {
			return err
		}
		raw, err := os.ReadFile(path)
		if errors.Is(err, os.ErrNotExist) {
			return nil
		}
		if sha := strings.TrimSpace(string(raw)); len(sha) == len(zeroSHA) && isHex(sha) {
			refs[filepath.ToSlash(path[len(dir)+1:])] = sha
		}
		return err
	})
	if err != nil {
		return nil, fmt.Errorf("read refs of %s: %w", r.FullName(), err)
	}
	packed, err := os.ReadFile(filepath.Join(dir, "packed-refs"))
	if err != nil && !errors.Is(err, os.ErrNotExist) {
		return nil, fmt.Errorf("read refs of %s: %w", r.FullName(), err)
	}
	for line := range strings.Lines(string(packed)) {
		sha, ref, ok := strings.Cut(strings.TrimSuffix(line, "\n"), " ")
		if ok && len(sha) == len(zeroSHA) && isHex(sha) && refs[ref] == "" {
			refs[ref] = sha
		}
	}
	return refs, nil
}
