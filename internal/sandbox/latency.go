package sandbox

import (
	"net/http"
	"time"
)

// setLatency makes every answer of the API come so many milliseconds later, until it is set again.
func setLatency(q *request, in struct{ MS int64 }) (any, error) {
	if in.MS < 0 {
		return nil, unprocessable("ms: want a number of milliseconds")
	}
	q.s.st.LatencyMS = in.MS
	return q.changed()
}

// late has the handler wait before it begins, and hold nothing meanwhile: requests that come together wait together. A client
// that does not wait so long gets no answer and has had no effect.
func (s *Server) late(ms int64, next http.Handler) http.Handler {
	if ms == 0 {
		return next
	}
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		select {
		case <-s.after(time.Duration(ms) * time.Millisecond):
			next.ServeHTTP(w, r)
		case <-r.Context().Done():
		}
	})
}
