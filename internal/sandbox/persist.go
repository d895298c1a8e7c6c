package sandbox

import (
	"bufio"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"time"
)

// saveEvery bounds what a kill can lose. The state is written as a whole, so writing it at each change would be quadratic.
const saveEvery = 400 * time.Millisecond

// load reads state.json and makes a first repository where there is no such file.
func (s *Server) load(empty bool) error {
	s.st = &state{LastID: firstID, LastSmallID: firstSmallID}
	s.memos = map[string]any{}
	data, err := os.ReadFile(filepath.Join(s.dir, "state.json"))
	if errors.Is(err, os.ErrNotExist) {
		s.world.index()
		s.world.ensureUser(actionsLogin, "Bot")
		if empty {
			return nil
		}
		_, err := s.world.addWidgets()
		return err
	}
	if err != nil {
		return fmt.Errorf("read state: %w", err)
	}
	if err := json.Unmarshal(data, s.st); err != nil {
		return fmt.Errorf("read state %s: %w", filepath.Join(s.dir, "state.json"), err)
	}
	s.world.index()
	for _, r := range s.st.Repositories {
		if err := s.refs.sync(r, s.world.author(r.Owner)); err != nil { // a push that a kill interrupted
			return err
		}
	}
	return nil
}

// index rebuilds what is found by id from the state.
func (w world) index() {
	w.users = map[string]*User{}
	w.core.behind = nil
	w.issues = map[int64]*Issue{}
	w.comments = map[int64]*Comment{}
	w.reviews = map[int64]*Review{}
	w.reviewComments = map[int64]*ReviewComment{}
	for _, u := range w.st.Users {
		w.users[strings.ToLower(u.Login)] = u
	}
	for _, r := range w.st.Repositories {
		for _, i := range r.Issues {
			w.indexIssue(r, i)
		}
	}
}

func (w world) indexIssue(r *Repository, i *Issue) {
	i.repo = r
	w.issues[i.ID] = i
	for _, c := range i.Comments {
		c.issue = i
		w.comments[c.ID] = c
	}
	if i.Pull == nil {
		return
	}
	w.issues[i.Pull.ID] = i
	if i.Pull.NewHead != nil || i.Pull.NewMerge != nil {
		w.core.behind = append(w.core.behind, i)
	}
	if i.Pull.merged() {
		r.noteContributor(i.Author)
	}
	for _, v := range i.Pull.Reviews {
		v.issue = i
		w.reviews[v.ID] = v
	}
	for _, c := range i.Pull.ReviewComments {
		c.issue = i
		w.reviewComments[c.ID] = c
	}
}

// saveLoop writes the state a moment after it changed, until Close.
func (s *Server) saveLoop() {
	defer close(s.saved)
	tick := time.NewTicker(saveEvery)
	defer tick.Stop()
	for {
		select {
		case <-tick.C:
			s.save()
		case <-s.stop:
			s.save()
			return
		}
	}
}

// save writes the state when it has changed. An error is kept for Close.
func (s *Server) save() {
	s.saving.Lock()
	defer s.saving.Unlock()
	s.mu.Lock()
	data, err := s.unsaved()
	s.mu.Unlock()
	if err = errors.Join(err, s.write(data)); err != nil {
		s.mu.Lock()
		s.saveErr = errors.Join(s.saveErr, fmt.Errorf("save sandbox: %w", err))
		s.mu.Unlock()
	}
}

// Still runs do between two requests, with all that the server knows on disk. Fetches go on, which write nothing.
func (s *Server) Still(do func() error) error {
	s.saving.Lock()
	defer s.saving.Unlock()
	s.mu.Lock()
	defer s.mu.Unlock()
	data, err := s.unsaved()
	if err = errors.Join(err, s.write(data)); err != nil {
		return fmt.Errorf("save sandbox: %w", err)
	}
	return do()
}

// unsaved is the state where it has changed since it was last asked for, else nil. What only grows it writes itself.
func (s *Server) unsaved() (data []byte, err error) {
	err = errors.Join(s.deliveries.flush(), s.calls.flush())
	if s.dirty {
		var merr error
		data, merr = json.Marshal(s.st)
		err = errors.Join(err, merr)
		s.dirty = false
	}
	return data, err
}

func (s *Server) write(data []byte) error {
	if data == nil {
		return nil
	}
	return writeAtomically(filepath.Join(s.dir, "state.json"), data)
}

func writeAtomically(path string, data []byte) error {
	tmp := path + ".new"
	if err := os.WriteFile(tmp, data, 0o644); err != nil {
		return fmt.Errorf("write state: %w", err)
	}
	if err := os.Rename(tmp, path); err != nil {
		return fmt.Errorf("replace state: %w", err)
	}
	return nil
}

// recordLog is a file of JSON lines that only grows. What was said of the sandbox's past is read back from it, not kept in memory.
type recordLog struct {
	mu  sync.Mutex
	f   *os.File
	w   *bufio.Writer
	n   int64 // records
	err error // of an append; kept for flush
}

func openLog(path string) (*recordLog, error) {
	f, err := os.OpenFile(path, os.O_RDWR|os.O_CREATE|os.O_APPEND, 0o644)
	if err != nil {
		return nil, fmt.Errorf("open log: %w", err)
	}
	l := &recordLog{f: f, w: bufio.NewWriterSize(f, 1<<16)}
	var whole int64
	if err := l.each(func(line []byte) error { l.n++; whole += int64(len(line)); return nil }); err != nil {
		return nil, err
	}
	if err := f.Truncate(whole); err != nil { // a kill cut the last line off
		return nil, fmt.Errorf("open log: %w", err)
	}
	return l, nil
}

// append adds one record. An error shows at the next flush.
func (l *recordLog) append(v any) {
	data, err := json.Marshal(v)
	l.mu.Lock()
	defer l.mu.Unlock()
	if err == nil {
		l.n++
		_, err = l.w.Write(append(data, '\n'))
	}
	l.err = errors.Join(l.err, err)
}

// each reads all records, oldest first. A last line without its end was cut off by a kill and is left out.
func (l *recordLog) each(do func(line []byte) error) error {
	if err := l.flush(); err != nil {
		return err
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	f, err := os.Open(l.f.Name())
	if err != nil {
		return fmt.Errorf("read log: %w", err)
	}
	defer f.Close()
	r := bufio.NewReaderSize(f, 1<<16)
	for {
		line, err := r.ReadBytes('\n')
		if errors.Is(err, io.EOF) {
			return nil
		}
		if err != nil {
			return fmt.Errorf("read log: %w", err)
		}
		if err := do(line); err != nil {
			return err
		}
	}
}

// count is the number of records.
func (l *recordLog) count() int64 {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.n
}

// truncate forgets all records.
func (l *recordLog) truncate() error {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.w.Reset(l.f)
	l.n = 0
	if err := l.f.Truncate(0); err != nil {
		return fmt.Errorf("clear log: %w", err)
	}
	return nil
}

func (l *recordLog) flush() error {
	l.mu.Lock()
	defer l.mu.Unlock()
	err := errors.Join(l.err, l.w.Flush())
	l.err = nil
	return err
}

func (l *recordLog) close() error { return errors.Join(l.flush(), l.f.Close()) }
