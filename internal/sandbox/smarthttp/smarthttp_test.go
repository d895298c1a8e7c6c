package smarthttp_test

import (
	"bytes"
	"compress/gzip"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/mergexo/mergexo/internal/must"
	"github.com/mergexo/mergexo/internal/sandbox/smarthttp"
)

// ask sends one request about an empty bare repository.
func ask(t *testing.T, method, path, service, kind, version string, body []byte, encoding string) *httptest.ResponseRecorder {
	t.Helper()
	dir := filepath.Join(t.TempDir(), "x.git")
	out, err := exec.Command("git", "init", "-q", "--bare", "--template=", dir).CombinedOutput()
	require.NoError(t, err, "%s", out)
	r := httptest.NewRequest(method, path, bytes.NewReader(body))
	r.Header.Set("Content-Type", kind)
	r.Header.Set("Git-Protocol", version)
	r.Header.Set("Content-Encoding", encoding)
	w := httptest.NewRecorder()
	smarthttp.Serve(w, r, service, dir, []string{"PATH=" + os.Getenv("PATH"), "GIT_CONFIG_GLOBAL=/dev/null", "GIT_CONFIG_NOSYSTEM=1", "HOME=/nonexistent"})
	return w
}

func TestRefsAreAdvertisedInBothProtocols(t *testing.T) {
	old := ask(t, "GET", "/x/info/refs", smarthttp.ReceivePack, "", "", nil, "")
	assert.Equal(t, "application/x-git-receive-pack-advertisement", old.Header().Get("Content-Type"))
	assert.Equal(t, "no-cache, max-age=0, must-revalidate", old.Header().Get("Cache-Control"))
	assert.Regexp(t, `^001f# service=git-receive-pack\n0000[0-9a-f]{4}0{40} capabilities\^\{\}`, old.Body.String())
	second := ask(t, "GET", "/x/info/refs", smarthttp.UploadPack, "", "version=2", nil, "")
	assert.Regexp(t, `^000eversion 2\n`, second.Body.String(), "without a line about the service")
}

func TestABodyMayBeCompressed(t *testing.T) {
	call := []byte("0014command=ls-refs\n0000")
	var small bytes.Buffer
	z := gzip.NewWriter(&small)
	require.NoError(t, must.Err(z.Write(call)))
	require.NoError(t, z.Close())
	for encoding, body := range map[string][]byte{"": call, "gzip": small.Bytes()} {
		got := ask(t, "POST", "/x/git-upload-pack", smarthttp.UploadPack, "application/x-git-upload-pack-request", "version=2", body, encoding)
		assert.Equal(t, "0000", got.Body.String(), "no refs: %q", encoding)
		assert.Equal(t, "application/x-git-upload-pack-result", got.Header().Get("Content-Type"))
	}
	got := ask(t, "POST", "/x/git-upload-pack", smarthttp.UploadPack, "application/x-git-upload-pack-request", "version=2", call, "gzip")
	assert.Equal(t, 400, got.Code, "not compressed at all")
}

func TestWhatIsNoRequestOfGits(t *testing.T) {
	assert.Equal(t, 403, ask(t, "GET", "/x/info/refs", "upload-archive", "", "", nil, "").Code)
	assert.Equal(t, 415, ask(t, "POST", "/x/git-upload-pack", smarthttp.UploadPack, "text/plain", "", []byte("0000"), "").Code)
}
