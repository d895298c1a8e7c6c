package git

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
)

func TestOfALongMessageTheEndIsKept(t *testing.T) {
	t.Parallel()
	said := &tail{limit: 10}
	for _, part := range []string{"first", " of all\n", strings.Repeat("more ", 20), "fatal: x\n"} {
		n, err := said.Write([]byte(part))
		assert.NoError(t, err)
		assert.Equal(t, len(part), n, "the program is not ended for what it says")
		assert.LessOrEqual(t, len(said.kept), 20)
	}
	assert.Equal(t, "... fatal: x\n", said.String())
	short := &tail{limit: 10}
	_, _ = short.Write([]byte("fatal: xy\n"))
	assert.Equal(t, "fatal: xy\n", short.String())
}

// TestOnlyWhatIsSaidCounts: not what a repository is called.
func TestOnlyWhatIsSaidCounts(t *testing.T) {
	t.Parallel()
	for said, want := range map[string]Failure{
		"fatal: unable to access 'https://github.com/octo/widgets/': OpenSSL SSL_connect: SSL_ERROR_SYSCALL in connection to github.com:443": Unreachable,
		"error: RPC failed; curl 56 OpenSSL SSL_read: error:0A000126:SSL routines::unexpected eof while reading, errno 0":                    Unreachable,
		"error: RPC failed; curl 55 SSL_write() returned SYSCALL, errno = 32":                                                                Unreachable,
		"fatal: repository 'https://github.com/octo/widgets/' not found":                                                                     NotFound,
		"fatal: Authentication failed for 'https://github.com/octo/widgets/'":                                                                Denied,
		"fatal: unable to access 'https://ssl_proxy.corp/octo/ssl_error_codes/': The requested URL returned error: 495":                      "",
		"fatal: couldn't find remote ref refs/heads/ssl_fix":                                                                                 "",
	} {
		assert.Equal(t, want, classify(said), said)
	}
}
