package modelproxy_test

import (
	"bufio"
	"bytes"
	"context"
	"fmt"
	"io"
	"log/slog"
	"net"
	"net/http"
	"net/http/httptest"
	"strconv"
	"strings"
	"sync"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/mergexo/mergexo/internal/agent/modelproxy"
	"github.com/mergexo/mergexo/internal/model"
	"github.com/mergexo/mergexo/internal/must"
)

const key = "sk-real-0123456789"

// provider is a server that takes only the real key, and remembers what it was asked.
type provider struct {
	*httptest.Server
	mu    sync.Mutex
	asked []*http.Request
}

func serve(t *testing.T, answer http.HandlerFunc) *provider {
	t.Helper()
	s := &provider{}
	s.Server = httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		s.mu.Lock()
		s.asked = append(s.asked, r.Clone(context.Background()))
		s.mu.Unlock()
		answer(w, r)
	}))
	t.Cleanup(s.Close)
	return s
}

func (s *provider) all() []*http.Request {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.asked
}

// start is a proxy in front of a server, and what it logs.
func start(t *testing.T, of modelproxy.Provider, base string) (*modelproxy.Proxy, *bytes.Buffer) {
	t.Helper()
	log := &bytes.Buffer{}
	header := http.Header{"Authorization": {"Bearer " + key}}
	if of.Base == modelproxy.Anthropic.Base {
		header = http.Header{"X-Api-Key": {key}}
	}
	p := must.Get(modelproxy.Start(modelproxy.Options{Provider: of, Base: base, Header: header, Log: slog.New(slog.NewTextHandler(log, nil))}))(t)
	t.Cleanup(func() { p.End() })
	return p, log
}

// client keeps no connection: the next proxy may get the port of one that has ended.
var client = &http.Client{
	Transport:     &http.Transport{DisableKeepAlives: true},
	CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse },
}

// post asks as an agent's program does.
func post(t *testing.T, p *modelproxy.Proxy, method, path, secret string, body io.Reader, more ...string) *http.Response {
	t.Helper()
	r := must.Get(http.NewRequestWithContext(t.Context(), method, p.URL+path, body))(t)
	r.Header.Set("Authorization", "Bearer "+secret)
	for i := 0; i < len(more); i += 2 {
		r.Header.Set(more[i], more[i+1])
	}
	answer := must.Get(client.Do(r))(t)
	t.Cleanup(func() { _ = answer.Body.Close() })
	return answer
}

func text(t *testing.T, answer *http.Response) string {
	t.Helper()
	return string(must.Get(io.ReadAll(answer.Body))(t))
}

func TestTheKeyTakesThePlaceOfThePlaceholder(t *testing.T) {
	t.Parallel()
	s := serve(t, func(w http.ResponseWriter, _ *http.Request) { fmt.Fprint(w, `{}`) })
	for _, c := range []struct {
		of         modelproxy.Provider
		base, path string
		arrives    string
		header     string
		want       string
	}{
		{modelproxy.OpenAI, "/v1", "/responses", "/v1/responses", "Authorization", "Bearer " + key},
		{modelproxy.OpenAI, "/gateway/v1/", "/responses", "/gateway/v1/responses", "Authorization", "Bearer " + key},
		{modelproxy.Anthropic, "", "/v1/messages?beta=true", "/v1/messages?beta=true", "X-Api-Key", key},
		{modelproxy.Anthropic, "/", "/v1/messages/count_tokens", "/v1/messages/count_tokens", "X-Api-Key", key},
	} {
		p, _ := start(t, c.of, s.URL+c.base)
		answer := post(t, p, "POST", c.path, p.Secret, strings.NewReader(`{"model": "x"}`), "Cookie", "a=b", "Api-Key", "other", "Proxy-Authorization", "x", "X-Forwarded-For", "10.0.0.1",
			"Anthropic-Beta", "one,two", "Accept-Encoding", "gzip, br")
		assert.Equal(t, 200, answer.StatusCode)
		asked := s.all()[len(s.all())-1]
		assert.Equal(t, c.arrives, asked.RequestURI)
		assert.Equal(t, s.Listener.Addr().String(), asked.Host)
		assert.Equal(t, []string{c.want}, asked.Header.Values(c.header))
		assert.Equal(t, "one,two", asked.Header.Get("Anthropic-Beta"))
		assert.NotContains(t, fmt.Sprint(asked.Header), p.Secret)
		for _, name := range []string{"Authorization", "X-Api-Key", "Cookie", "Api-Key", "Proxy-Authorization", "X-Forwarded-For", "Accept-Encoding"} {
			if name != c.header {
				assert.Empty(t, asked.Header.Values(name), name)
			}
		}
		assert.Equal(t, strings.TrimRight(s.URL+c.base, "/"), p.Site)
	}
}

func TestWhatDoesNotAskAModelIsRefused(t *testing.T) {
	t.Parallel()
	s := serve(t, func(http.ResponseWriter, *http.Request) {})
	p, log := start(t, modelproxy.Anthropic, s.URL)
	other, _ := start(t, modelproxy.Anthropic, s.URL)
	refused := func(method, path, secret string, status int) {
		answer := post(t, p, method, path, secret, strings.NewReader("{}"))
		assert.Equal(t, status, answer.StatusCode, "%s %s", method, path)
		if method != "HEAD" {
			assert.Contains(t, text(t, answer), `"message":"MergeXO does not pass on this request: `)
		}
	}
	for _, secret := range []string{"", "sk-wrong", other.Secret, key} {
		refused("POST", "/v1/messages", secret, 401)
	}
	for method, paths := range map[string][]string{
		"GET": {"/v1/messages"}, "HEAD": {"/"}, "DELETE": {"/v1/messages"},
		"POST": {
			"/", "/v1/files", "/v1/messages/batches", "/v1/messages/", "//v1/messages", "/v1/../v1/messages", "/v1%2fmessages", "/v1/organizations/api_keys", "/responses",
		},
	} {
		for _, path := range paths {
			refused(method, path, p.Secret, 404)
		}
	}
	answer := post(t, p, "POST", "/v1/messages", p.Secret, nil, "Connection", "Upgrade", "Upgrade", "websocket")
	assert.Equal(t, http.StatusNotImplemented, answer.StatusCode)
	assert.Empty(t, s.all(), "the provider hears of none of it")
	p.End()
	assert.Equal(t, 17, strings.Count(log.String(), "msg=model_request_refused "))
	assert.Contains(t, log.String(), `msg=model_request_refused method=POST path=/v1/files why="it is not a request to a model"`)
	assert.NotContains(t, log.String(), key)
	assert.NotContains(t, log.String(), p.Secret)
}

func TestRefusalsAreLoggedCleanAndBounded(t *testing.T) {
	t.Parallel()
	p, log := start(t, modelproxy.OpenAI, "http://127.0.0.1:1/v1")
	for range 30 {
		conn := must.Get(net.Dial("tcp", strings.TrimPrefix(p.URL, "http://")))(t)
		_ = must.Get(fmt.Fprintf(conn, "%s /%%1b[31m%%0A::error::%s?secret=query HTTP/1.0\r\n\r\n", strings.Repeat("M", 500), strings.Repeat("x", 5000)))(t)
		assert.Contains(t, string(must.Get(io.ReadAll(conn))(t)), "401 Unauthorized")
		require.NoError(t, conn.Close())
	}
	p.End()
	lines := strings.Split(strings.TrimSpace(log.String()), "\n")
	assert.Len(t, lines, 21)
	assert.Less(t, len(lines[0]), 400)
	assert.Contains(t, lines[0], `method=MMMMMMMMMM... `)
	assert.Contains(t, lines[0], `\x1b[31m`)
	assert.Contains(t, lines[20], "further ones are not logged")
	assert.NotContains(t, log.String(), "\x1b")
	assert.NotContains(t, log.String(), "query")
}

func TestAStreamIsPassedOnAsItComes(t *testing.T) {
	t.Parallel()
	next := make(chan struct{})
	s := serve(t, func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", "text/event-stream")
		fmt.Fprint(w, "data: first\n\n")
		_ = http.NewResponseController(w).Flush()
		<-next // only the reader of the first event lets the second one come
		fmt.Fprint(w, "data: second\n\n")
	})
	p, _ := start(t, modelproxy.OpenAI, s.URL)
	lines := bufio.NewReader(post(t, p, "POST", "/responses", p.Secret, strings.NewReader("{}")).Body)
	assert.Equal(t, "data: first\n", must.Get(lines.ReadString('\n'))(t))
	close(next)
	assert.Equal(t, "\ndata: second\n\n", string(must.Get(io.ReadAll(lines))(t)))
}

func TestTheProvidersErrorsArePassedOn(t *testing.T) {
	t.Parallel()
	for _, status := range []int{400, 401, 403, 404, 429, 500, 503, 529} {
		s := serve(t, func(w http.ResponseWriter, _ *http.Request) {
			for name, value := range map[string]string{
				"Retry-After": "7", "Request-Id": "req_1", "Anthropic-Ratelimit-Tokens-Limit": "9", "X-Ratelimit-Limit-Requests": "8", "Content-Type": "application/json",
				"Set-Cookie": "session=1", "Authorization": "Bearer x", "X-Api-Key": key, "X-Anything": "x", "Openai-Organization": "the one of " + key,
			} {
				w.Header().Set(name, value)
			}
			w.WriteHeader(status)
			fmt.Fprintf(w, `{"error": {"message": "who is %s?"}}`, key)
		})
		p, _ := start(t, modelproxy.OpenAI, s.URL)
		answer := post(t, p, "POST", "/responses", p.Secret, strings.NewReader("{}"))
		assert.Equal(t, status, answer.StatusCode)
		assert.Equal(t, `{"error": {"message": "who is `+p.Secret+`?"}}`, text(t, answer), "a key that is quoted is not the real one")
		var names []string
		for name := range answer.Header {
			names = append(names, name)
		}
		assert.ElementsMatch(t, []string{"Retry-After", "Request-Id", "Anthropic-Ratelimit-Tokens-Limit", "X-Ratelimit-Limit-Requests", "Content-Type", "Content-Length", "Date"}, names)
	}
}

// A key may come in parts, and what only begins like one is passed on.
func TestAnAnswerThatQuotesTheKeyIsNotPassedOnAsItIs(t *testing.T) {
	t.Parallel()
	for at := range len(key) + 1 {
		s := serve(t, func(w http.ResponseWriter, _ *http.Request) {
			flush := func(text string) {
				fmt.Fprint(w, text)
				w.(http.Flusher).Flush() //nolint:forcetypeassert // as every writer of a server
			}
			flush("data: it is " + key[:at])
			flush(key[at:] + key + ", not " + key[:at] + "\n\ndata: " + key[:at])
		})
		p, _ := start(t, modelproxy.OpenAI, s.URL)
		answer := text(t, post(t, p, "POST", "/responses", p.Secret, strings.NewReader("{}")))
		want := "data: it is " + p.Secret + p.Secret + ", not " + strings.ReplaceAll(key[:at], key, p.Secret) + "\n\ndata: " + strings.ReplaceAll(key[:at], key, p.Secret)
		assert.Equal(t, want, answer, "%d", at)
	}
}

func TestARedirectIsNotFollowed(t *testing.T) {
	t.Parallel()
	elsewhere := serve(t, func(http.ResponseWriter, *http.Request) {})
	s := serve(t, func(w http.ResponseWriter, r *http.Request) {
		http.Redirect(w, r, elsewhere.URL+"/steal", http.StatusTemporaryRedirect)
	})
	p, _ := start(t, modelproxy.OpenAI, s.URL)
	answer := post(t, p, "POST", "/responses", p.Secret, strings.NewReader("{}"))
	assert.Equal(t, http.StatusBadGateway, answer.StatusCode)
	assert.Empty(t, answer.Header.Get("Location"))
	assert.Contains(t, text(t, answer), "it redirects to "+elsewhere.URL+", where the key is not sent")
	assert.Empty(t, elsewhere.all())
}

func TestAProviderThatIsNotThere(t *testing.T) {
	t.Parallel()
	s := serve(t, func(http.ResponseWriter, *http.Request) {})
	s.Close()
	p, log := start(t, modelproxy.OpenAI, s.URL)
	answer := post(t, p, "POST", "/responses", p.Secret, strings.NewReader("{}"))
	assert.Equal(t, http.StatusBadGateway, answer.StatusCode)
	assert.Contains(t, text(t, answer), `"message":"MergeXO cannot reach the model at `+s.Listener.Addr().String()+": dial tcp ")
	p.End()
	assert.Contains(t, log.String(), "msg=model_not_reached host="+s.Listener.Addr().String())
}

// zeros is endless.
type zeros struct{}

func (zeros) Read(p []byte) (int, error) { clear(p); return len(p), nil }

func TestARequestThatIsTooLargeIsNotPassedOn(t *testing.T) {
	t.Parallel()
	s := serve(t, func(_ http.ResponseWriter, r *http.Request) { _, _ = io.Copy(io.Discard, r.Body) })
	p, _ := start(t, modelproxy.OpenAI, s.URL)
	const most = 64 << 20
	conn := must.Get(net.Dial("tcp", strings.TrimPrefix(p.URL, "http://")))(t)
	defer conn.Close()
	_ = must.Get(fmt.Fprintf(conn, "POST /responses HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer %s\r\nContent-Length: %d\r\n\r\n", p.Secret, most+1))(t)
	require.NoError(t, conn.(*net.TCPConn).CloseWrite())
	assert.Equal(t, "HTTP/1.1 413 Request Entity Too Large\r\n", must.Get(bufio.NewReader(conn).ReadString('\n'))(t))
	assert.Empty(t, s.all(), "one that says its size is not begun")

	for size, status := range map[int64]int{most: 200, most + 1: 413} {
		reader := struct{ io.Reader }{io.LimitReader(zeros{}, size)} // of a length that nobody knows beforehand
		assert.Equal(t, status, post(t, p, "POST", "/responses", p.Secret, reader).StatusCode)
	}
}

func TestAHugeAnswerIsPassedOnWhole(t *testing.T) {
	t.Parallel()
	const size = 256 << 20
	s := serve(t, func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Length", strconv.Itoa(size))
		_, _ = io.Copy(w, io.LimitReader(zeros{}, size))
	})
	p, _ := start(t, modelproxy.OpenAI, s.URL)
	assert.Equal(t, int64(size), must.Get(io.Copy(io.Discard, post(t, p, "POST", "/responses", p.Secret, strings.NewReader("{}")).Body))(t))
}

func TestTheEndOfARunEndsWhatIsUnderWay(t *testing.T) {
	t.Parallel()
	gone := make(chan struct{})
	s := serve(t, func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Content-Type", "text/event-stream")
		fmt.Fprint(w, anthropicStream[:200])
		_ = http.NewResponseController(w).Flush()
		<-r.Context().Done()
		close(gone)
	})
	p, _ := start(t, modelproxy.Anthropic, s.URL)
	answer := post(t, p, "POST", "/v1/messages", p.Secret, strings.NewReader("{}"))
	require.NoError(t, must.Err(io.ReadFull(answer.Body, make([]byte, 200))))
	assert.Equal(t, model.Usage{InputTokens: 100, OutputTokens: 1}, p.End(), "what it had come to is counted")
	<-gone
	require.Error(t, must.Err(io.ReadAll(answer.Body)), "an answer that breaks off does not look whole")
	require.Error(t, must.Err(net.Dial("tcp", strings.TrimPrefix(p.URL, "http://"))))
	assert.Equal(t, model.Usage{InputTokens: 100, OutputTokens: 1}, p.End(), "it may be ended twice")
}

func TestManyAtOnceAreAnsweredOneAfterTheOther(t *testing.T) {
	t.Parallel()
	s := serve(t, func(w http.ResponseWriter, _ *http.Request) {
		fmt.Fprint(w, `{"usage": {"input_tokens": 1, "output_tokens": 1}}`)
	})
	p, _ := start(t, modelproxy.OpenAI, s.URL)
	var all sync.WaitGroup
	for range 200 {
		all.Go(func() {
			r, err := http.NewRequestWithContext(t.Context(), "POST", p.URL+"/responses", strings.NewReader("{}"))
			if !assert.NoError(t, err) {
				return
			}
			r.Header.Set("X-Api-Key", p.Secret)
			answer, err := client.Do(r)
			if assert.NoError(t, err) {
				_, _ = io.Copy(io.Discard, answer.Body)
				assert.NoError(t, answer.Body.Close())
			}
		})
	}
	all.Wait()
	assert.Equal(t, model.Usage{InputTokens: 200, OutputTokens: 200}, p.End())
}

func TestWhichAddressesAModelMayHave(t *testing.T) {
	t.Parallel()
	for _, good := range []string{"https://api.example.com", "http://10.0.0.1:8080/v1/", "https://gateway.example.com/a/b"} {
		assert.NoError(t, must.Err(modelproxy.ParseBase(good)), good)
	}
	for bad, want := range map[string]string{
		"":                              "it is not the address of a server: want one such as https://gateway.example.com/v1",
		"api.example.com/v1":            "it is not the address of a server: want one such as https://gateway.example.com/v1",
		"ftp://api.example.com":         "it is not the address of a server: want one such as https://gateway.example.com/v1",
		"https://":                      "it is not the address of a server: want one such as https://gateway.example.com/v1",
		"https://u:passw0rd@x.test/v1":  "it has more than a host and a path: leave out name, password, query and fragment, as in https://x.test/v1",
		"https://x.test/v1?key=pass":    "it has more than a host and a path: leave out name, password, query and fragment, as in https://x.test/v1",
		"https://u:passw0rd@x.test:x/a": "it is not a URL: want one such as https://gateway.example.com/v1",
	} {
		assert.EqualError(t, must.Err(modelproxy.ParseBase(bad)), want, bad)
		_, err := modelproxy.Start(modelproxy.Options{Provider: modelproxy.OpenAI, Base: bad})
		if bad != "" {
			assert.EqualError(t, err, "address of the model: "+want)
		}
	}
}
