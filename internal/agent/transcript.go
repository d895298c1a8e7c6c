package agent

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"maps"
	"os"
	"path"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"syscall"
)

// layout is how a program files the transcripts of its sessions in its directory below Options.Sessions.
type layout struct {
	file string                 // pattern of a transcript's path; ID stands for the session's id
	as   func(at string) string // the path that a transcript found at at is handed out with, and put back to
}

// maxFiled bounds how many files and directories are looked at for a transcript.
const maxFiled = 20_000

// HasTranscripts reports whether an adapter's sessions can be carried to another machine.
func HasTranscripts(adapter string) bool {
	return adapters[adapter].transcript != nil
}

// ReadTranscript gives the transcript of a session as an adapter left it in Options.Sessions: files by slash-separated
// paths, of together at most limit bytes. An agent can write there, so nothing but a regular file with one name counts.
// An *Error of kind NoSession says that there is none. The agent must have ended.
func ReadTranscript(sessions, adapter, handle string, limit int64) (map[string][]byte, error) {
	shelf, err := openShelf(sessions, adapter, handle)
	if err != nil {
		return nil, err
	}
	defer shelf.root.Close()
	all, err := shelf.find()
	if err != nil {
		return nil, err
	}
	var newest *filed // which is the one that the program has just written
	for _, one := range all {
		if ordinary(one.info) && (newest == nil || one.info.ModTime().After(newest.info.ModTime())) {
			newest = &one
		}
	}
	if newest == nil {
		return nil, shelf.none("it left no transcript", nil)
	}
	text, err := shelf.read(*newest, limit)
	if err != nil {
		return nil, err
	}
	return map[string][]byte{adapters[adapter].transcript.as(newest.at): text}, nil
}

// WriteTranscript puts back what ReadTranscript gave, on whatever machine, in place of all that is there of the session.
// Files that ReadTranscript would not give are refused, and then nothing is changed.
func WriteTranscript(sessions, adapter, handle string, files map[string][]byte) error {
	if HasTranscripts(adapter) {
		if err := os.MkdirAll(filepath.Join(sessions, adapter), 0o700); err != nil {
			return fmt.Errorf("make directory of sessions: %w", err)
		}
	}
	shelf, err := openShelf(sessions, adapter, handle)
	if err != nil {
		return err
	}
	defer shelf.root.Close()
	if len(files) != 1 {
		return fmt.Errorf("put back session %s of %s: its transcript has %d files: want one", shelf.id, adapter, len(files))
	}
	at := slices.Collect(maps.Keys(files))[0]
	if !shelf.pattern.MatchString(at) || adapters[adapter].transcript.as(at) != at {
		return fmt.Errorf("put back session %s of %s: %q is not a file of its transcript", shelf.id, adapter, at)
	}
	old, err := shelf.find()
	if err != nil {
		return err
	}
	for _, one := range old {
		if err := shelf.root.RemoveAll(one.at); err != nil {
			return fmt.Errorf("remove old transcript of session %s of %s: %w", shelf.id, adapter, err)
		}
	}
	if err := shelf.write(at, files[at]); err != nil {
		return fmt.Errorf("put back session %s of %s: %w", shelf.id, adapter, err)
	}
	return nil
}

// shelf is where the transcripts of an adapter lie, with an eye on one session. All access goes through root, which
// symbolic links do not lead out of.
type shelf struct {
	adapter, id string
	root        *os.Root
	pattern     *regexp.Regexp
	depth       int // of directories
}

// openShelf opens the adapter's directory, which may not be a symbolic link: the agent could have put it there.
func openShelf(sessions, adapter, handle string) (*shelf, error) {
	at := adapters[adapter].transcript
	if at == nil {
		return nil, fmt.Errorf("session of %s: MergeXO does not know where that agent keeps transcripts", adapter)
	}
	now, err := readSession(handle)
	if err != nil {
		return nil, err
	}
	s := &shelf{adapter: adapter, id: now.id, depth: strings.Count(at.file, "/")}
	if s.id == "" {
		return nil, &Error{Kind: NoSession, Exit: -1, Detail: fmt.Sprintf("no session of %s is known", adapter)}
	}
	if s.pattern, err = regexp.Compile("^" + strings.Replace(at.file, "ID", s.id, 1) + "$"); err != nil {
		return nil, fmt.Errorf("session of %s: %w", adapter, err)
	}
	root, err := os.OpenRoot(sessions)
	if err == nil {
		defer root.Close()
		if err = isDir(root, adapter); err == nil {
			s.root, err = root.OpenRoot(adapter)
		}
	}
	if errors.Is(err, fs.ErrNotExist) {
		return nil, s.none("there are no sessions", err)
	}
	if err != nil {
		return nil, fmt.Errorf("open directory of sessions: %w", err)
	}
	return s, nil
}

// none says that the session is not here.
func (s *shelf) none(why string, err error) error {
	return &Error{Kind: NoSession, Exit: -1, Err: err, Detail: fmt.Sprintf("session %s of %s is not on this runner (%s)", s.id, s.adapter, why)}
}

// filed is what has the name of the session's transcript.
type filed struct {
	at   string
	info fs.FileInfo
}

// find gives everything that has the name of the session's transcript, of whatever kind it is.
func (s *shelf) find() ([]filed, error) {
	var found []filed
	looks := 0
	var look func(dir string, depth int) error
	look = func(dir string, depth int) error {
		in, err := s.root.OpenFile(dir, os.O_RDONLY|syscall.O_DIRECTORY|syscall.O_NONBLOCK, 0)
		if err != nil {
			return err
		}
		defer in.Close()
		for {
			entries, err := in.ReadDir(1000)
			for _, entry := range entries {
				if looks++; looks > maxFiled {
					return fmt.Errorf("it has more than %d files: remove old ones", maxFiled)
				}
				at := path.Join(dir, entry.Name())
				if entry.IsDir() && depth < s.depth {
					if err := look(at, depth+1); err != nil {
						return err
					}
				}
				if !s.pattern.MatchString(at) {
					continue
				}
				if info, err := s.root.Lstat(at); err == nil {
					found = append(found, filed{at, info})
				}
			}
			if errors.Is(err, io.EOF) {
				return nil
			}
			if err != nil {
				return err
			}
		}
	}
	if err := look(".", 0); err != nil {
		return nil, fmt.Errorf("look for session %s in the directory of %s: %w", s.id, s.adapter, err)
	}
	slices.SortFunc(found, func(a, b filed) int { return strings.Compare(a.at, b.at) })
	return found, nil
}

// ordinary reports whether it is a regular file without a second name: a hard link could be the name of somebody else's.
func ordinary(info fs.FileInfo) bool {
	stat, ok := info.Sys().(*syscall.Stat_t)
	return ok && info.Mode().IsRegular() && uint64(stat.Nlink) == 1
}

// read reads what find found.
func (s *shelf) read(one filed, limit int64) ([]byte, error) {
	fail := func(err error) ([]byte, error) {
		return nil, fmt.Errorf("read transcript of session %s of %s: %w", s.id, s.adapter, err)
	}
	// O_NONBLOCK: opening a FIFO that has taken the file's place would wait for a writer.
	file, err := s.root.OpenFile(one.at, os.O_RDONLY|syscall.O_NONBLOCK|syscall.O_NOFOLLOW, 0)
	if err != nil {
		return fail(err)
	}
	defer file.Close()
	info, err := file.Stat()
	if err != nil {
		return fail(err)
	}
	if !ordinary(info) || !os.SameFile(info, one.info) {
		return fail(errors.New("it was replaced in the meantime"))
	}
	text, err := io.ReadAll(io.LimitReader(file, limit+1))
	if err != nil {
		return fail(err)
	}
	if int64(len(text)) > limit {
		return fail(fmt.Errorf("it has more than %d bytes: it is too long to be kept", limit))
	}
	return text, nil
}

// write writes a file whole or not at all.
func (s *shelf) write(at string, text []byte) error {
	part := strings.Split(at, "/")
	for i := range part[:len(part)-1] {
		dir := path.Join(part[:i+1]...)
		if err := s.root.Mkdir(dir, 0o700); err != nil && !errors.Is(err, fs.ErrExist) {
			return err
		}
		if err := isDir(s.root, dir); err != nil {
			return err
		}
	}
	temp := at + ".mergexo"
	if err := s.root.RemoveAll(temp); err != nil {
		return err
	}
	out, err := s.root.OpenFile(temp, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o600)
	if err != nil {
		return err
	}
	_, err = out.Write(text)
	if err = errors.Join(err, out.Close()); err == nil {
		err = s.root.Rename(temp, at)
	}
	if err != nil {
		return errors.Join(err, s.root.Remove(temp))
	}
	return nil
}

// isDir is an error unless it is a directory. A symbolic link is none.
func isDir(root *os.Root, dir string) error {
	info, err := root.Lstat(dir)
	if err == nil && !info.IsDir() {
		err = fmt.Errorf("%s is in the way of a directory: remove it", dir)
	}
	return err
}
