package relay

import (
	"io"
	"log/slog"
	"net/http"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/mergexo/mergexo/internal/must"
)

// BenchmarkRelayOfAListing is what one relay costs from its beginning to its end, with the two requests of a listing, and
// what these cost without it.
func BenchmarkRelayOfAListing(b *testing.B) {
	upstream := serving(b, func(w http.ResponseWriter, _ *http.Request) { _, _ = io.WriteString(w, flush) })
	list := func(url string) {
		transport := &http.Transport{}
		defer transport.CloseIdleConnections()
		for _, request := range []string{"GET " + Listing.refs(), "POST /" + Listing.service} {
			method, path, _ := strings.Cut(request, " ")
			q := must.Get(http.NewRequestWithContext(b.Context(), method, url+path, strings.NewReader(pkt("command=ls-refs")+flush)))(b)
			q.Header.Set("Git-Protocol", secondVersion)
			answer := must.Get(transport.RoundTrip(q))(b)
			require.Equal(b, http.StatusOK, answer.StatusCode)
			_ = must.Get(io.Copy(io.Discard, answer.Body))(b)
			require.NoError(b, answer.Body.Close())
		}
	}
	b.Run("relay", func(b *testing.B) {
		real := Server{URL: upstream, Site: upstream + "/", Log: slog.New(slog.DiscardHandler)}
		for b.Loop() {
			r := must.Get(Start(real, Listing, nil))(b)
			require.NotEmpty(b, talk(b, r, strings.NewReader(pkt("command=ls-refs")+flush+flush)))
			r.Close()
		}
	})
	b.Run("none", func(b *testing.B) {
		for b.Loop() {
			list(upstream)
		}
	})
}
