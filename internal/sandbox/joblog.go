package sandbox

import (
	"cmp"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"time"
)

// logPrefix is where job logs lie: on GitHub another host, blob storage of Azure, which a signed URL opens for a minute.
const logPrefix = "/_logs/"

// redirectToLog answers with where a log is. That there is one is not asked: for a job that has not ended, or that never ran,
// the redirect leads to nothing (https://github.com/Digital-Process-Tools/claude-supertool/pull/741). A log that was deleted is
// 410, with words that say nothing (https://github.com/rust-lang/triagebot/issues/2241).
// https://docs.github.com/en/rest/actions/workflow-jobs#download-job-logs-for-a-workflow-run
func redirectToLog(q *request, _ *Run, j *Job) (any, error) {
	if j.Expired {
		return nil, &failure{status: http.StatusGone, message: "Server Error"}
	}
	until := q.s.world.now().Add(time.Minute)
	path := fmt.Sprintf("%s%d/%d.txt", logPrefix, q.repo.ID, j.ID)
	v := url.Values{"se": {stamp(until)}, "sig": {logSignature(path, stamp(until))}}
	q.head.Set("Location", q.s.origin+path+"?"+v.Encode())
	return &reply{status: http.StatusFound}, nil
}

// logSignature lets nobody guess where another log is. It is no secret: all that is in a sandbox is made up.
func logSignature(path, until string) string {
	sum := sha256.Sum256([]byte("log of a sandbox " + path + " " + until))
	return hex.EncodeToString(sum[:])
}

var logPath = regexp.MustCompile("^" + logPrefix + `(\d+)/(\d+)\.txt$`)

// blobError is an error as Azure's blob storage has it.
func blobError(w http.ResponseWriter, status int, code, message string) {
	w.Header().Set("Content-Type", "application/xml")
	w.Header().Set("X-Ms-Error-Code", code)
	w.WriteHeader(status)
	_, _ = fmt.Fprintf(w, "\ufeff<?xml version=\"1.0\" encoding=\"utf-8\"?><Error><Code>%s</Code><Message>%s</Message></Error>", code, message)
}

// serveLog is blob storage. It goes by the Authorization header rather than by the signature when it is sent one, and makes
// nothing of GitHub's: https://github.com/KnpLabs/php-github-api/issues/1156 (403, of a bearer's) and
// https://github.com/rapid7/metakitty/pull/30 (400).
func (s *Server) serveLog(w http.ResponseWriter, r *http.Request) {
	scheme, _, given := strings.Cut(r.Header.Get("Authorization"), " ")
	until := r.URL.Query().Get("se")
	end, err := time.Parse(time.RFC3339, until)
	s.mu.Lock()
	now := s.world.now()
	s.mu.Unlock()
	switch {
	case given && !strings.EqualFold(scheme, "bearer"):
		blobError(w, http.StatusBadRequest, "InvalidAuthenticationInfo", "Authentication information is not given in the correct format. Check the value of Authorization header.")
		return
	case given || err != nil || r.URL.Query().Get("sig") != logSignature(r.URL.Path, until) || now.After(end):
		blobError(w, http.StatusForbidden, "AuthenticationFailed", "Server failed to authenticate the request. Make sure the value of Authorization header is formed correctly including the signature.")
		return
	}
	log := s.findLog(r.URL.Path)
	if log == nil {
		blobError(w, http.StatusNotFound, "BlobNotFound", "The specified blob does not exist.")
		return
	}
	log.serve(w, r)
}

// findLog is nil where there is no log: a job that was cancelled or skipped never gets one.
func (s *Server) findLog(path string) *jobLog {
	m := logPath.FindStringSubmatch(path)
	if m == nil {
		return nil
	}
	id, _ := strconv.ParseInt(m[1], 10, 64)
	job, _ := strconv.ParseInt(m[2], 10, 64)
	s.mu.Lock()
	defer s.mu.Unlock()
	r := s.world.repositoryByID(id)
	if r == nil {
		return nil
	}
	_, j := r.job(job)
	if j == nil || j.Status != "completed" || j.Expired || slices.Contains([]string{"cancelled", "skipped"}, j.Conclusion) {
		return nil
	}
	return j.log()
}

// jobLog is a log of any size, of which only its ends are held: lines are made up in between.
type jobLog struct {
	head, tail string
	line       string // that is repeated
	filler     int64  // bytes of it
}

// log is a job's log as runners write it: a byte order mark, and before each line a timestamp with seven digits.
// https://github.com/makoni/actioneer-gtk/pull/13
func (j *Job) log() *jobLog {
	at := j.CompletedAt.UTC().Format("2006-01-02T15:04:05.0000000Z ")
	step := "##[group]Run " + strings.TrimPrefix(cmp.Or(j.Step, "tests"), "Run ")
	l := &jobLog{head: "\ufeff" + at + "Current runner version: '2.330.0'\n" + at + step + "\n" + at + "##[endgroup]\n"}
	for text := range strings.Lines(j.Log) {
		l.tail += at + strings.TrimSuffix(text, "\n") + "\n"
	}
	if j.unsuccessful() {
		l.tail += at + "##[error]Process completed with exit code 1.\n"
	}
	l.tail += at + "Cleaning up orphan processes\n"
	l.line = at + "ok  \t" + strings.Repeat("A line that says nothing. ", 3) + "\n"
	if missing := j.LogBytes - int64(len(l.head)+len(l.tail)); missing > 0 {
		size := int64(len(l.line))
		l.filler = (missing + size - 1) / size * size
	}
	return l
}

func (l *jobLog) size() int64 { return int64(len(l.head)+len(l.tail)) + l.filler }

// ReadAt reads any part.
func (l *jobLog) ReadAt(p []byte, off int64) (int, error) {
	n := 0
	for n < len(p) {
		rest := l.from(off + int64(n))
		if rest == "" {
			return n, io.EOF
		}
		n += copy(p[n:], rest)
	}
	return n, nil
}

// from is what stands at an offset, up to some end.
func (l *jobLog) from(off int64) string {
	if off < int64(len(l.head)) {
		return l.head[off:]
	}
	if off -= int64(len(l.head)); off < l.filler {
		return l.line[off%int64(len(l.line)):]
	}
	if off -= l.filler; off < int64(len(l.tail)) {
		return l.tail[off:]
	}
	return ""
}

// azureRange is what blob storage takes for a range: the last bytes alone cannot be asked for.
// https://learn.microsoft.com/en-us/rest/api/storageservices/specifying-the-range-header-for-blob-service-operations
var azureRange = regexp.MustCompile(`^bytes=(\d+)-(\d*)$`)

func (l *jobLog) serve(w http.ResponseWriter, r *http.Request) {
	size := l.size()
	from, to, status := int64(0), size, http.StatusOK
	if m := azureRange.FindStringSubmatch(r.Header.Get("Range")); m != nil {
		from, _ = strconv.ParseInt(m[1], 10, 64)
		if end, err := strconv.ParseInt(m[2], 10, 64); err == nil {
			to = min(end+1, size)
		}
		if from >= size || to <= from {
			blobError(w, http.StatusRequestedRangeNotSatisfiable, "InvalidRange", "The range specified is invalid for the current size of the resource.")
			return
		}
		status = http.StatusPartialContent
		w.Header().Set("Content-Range", fmt.Sprintf("bytes %d-%d/%d", from, to-1, size))
	}
	w.Header().Set("Content-Type", "text/plain; charset=utf-8")
	w.Header().Set("Accept-Ranges", "bytes")
	w.Header().Set("Content-Length", strconv.FormatInt(to-from, 10))
	w.WriteHeader(status)
	if r.Method != http.MethodHead {
		_, _ = io.Copy(w, io.NewSectionReader(l, from, to-from)) // the client may have enough of it
	}
}
