package main

import (
	"bytes"
	"context"
	"encoding/json"
	"io"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/mergexo/mergexo/internal/github"
	"github.com/mergexo/mergexo/internal/model"
	"github.com/mergexo/mergexo/internal/must"
)

// replay is a transport that answers as was recorded, in the order in which it was.
type replay struct {
	t       *testing.T
	left    []exchange
	repeats bool // the last one, as a server does that is asked again
}

// RoundTrip implements http.RoundTripper.
func (r *replay) RoundTrip(req *http.Request) (*http.Response, error) {
	if len(r.left) == 0 {
		r.t.Errorf("%s %s was not asked when it was recorded", req.Method, req.URL)
		return nil, io.ErrUnexpectedEOF
	}
	e := r.left[0]
	if !r.repeats || len(r.left) > 1 {
		r.left = r.left[1:]
	}
	body, err := json.Marshal(e.Body)
	if text, isText := e.Body.(string); isText {
		body = []byte(text)
	}
	if err != nil || e.Method != req.Method || (e.Path == "graphql") != strings.HasSuffix(req.URL.Path, "/graphql") {
		r.t.Errorf("%s %s is asked, %s %s was recorded", req.Method, req.URL, e.Method, e.Path)
	}
	return &http.Response{StatusCode: e.Status, Header: http.Header{"Content-Type": {"application/json"}, "Date": {"Sat, 01 Jan 2000 00:00:00 GMT"}},
		Body: io.NopCloser(bytes.NewReader(body)), Request: req}, nil
}

// recordedReadings is the answer of step gateway.
type recordedReadings struct {
	Place struct {
		Pull, Issue struct{ Number int }
		Branch      string
		Base        string
		SHA         string
		Node        struct{ ID string }
		Login       string
	}
	Readings []struct {
		Reading    string
		Understood any
		Exchanges  []exchange
	}
}

// understoodAgain puts what was recorded to the gateway again, and gives what it makes of it now.
func understoodAgain(t *testing.T, in recordedReadings, repeats bool) (now, then []string) {
	t.Helper()
	p := place{Repo: model.Repo{Owner: "owner", Name: "scratch"}, Pull: in.Place.Pull.Number, Issue: in.Place.Issue.Number, Branch: in.Place.Branch,
		Base: in.Place.Base, SHA: in.Place.SHA, Node: in.Place.Node.ID, Login: in.Place.Login}
	for _, said := range in.Readings {
		for _, r := range readings {
			if r.name != said.Reading {
				continue
			}
			answers := &replay{t, said.Exchanges, repeats}
			noWait := func(ctx context.Context, _ time.Duration) error { return ctx.Err() }
			c := must.Get(github.New(github.Options{APIURL: "https://github.invalid/api/v3", Token: "none", Transport: answers, Sleep: noWait}))(t)
			v, err := r.read(t.Context(), c, p)
			now = append(now, r.name+": "+jsonOf(t, plain(outcome(v, err))))
			if !repeats {
				assert.Empty(t, answers.left, "%s: answers that nothing asked for (%v)", r.name, err)
			}
		}
		then = append(then, said.Reading+": "+jsonOf(t, said.Understood))
	}
	return now, then
}

func jsonOf(t *testing.T, v any) string {
	t.Helper()
	return string(must.Get(json.Marshal(v))(t))
}

// What was recorded is understood as it was then: GitHub's answers too, as soon as they are there.
func TestTheGatewayUnderstandsWhatWasRecorded(t *testing.T) {
	files := must.Get(filepath.Glob(shipped + "/*/gateway.json"))(t)
	require.NotEmpty(t, files)
	for _, file := range files {
		now, then := understoodAgain(t, readingsIn(t, file), false)
		assert.Len(t, now, len(readings), file)
		assert.Equal(t, then, now, file)
	}
}

func readingsIn(t *testing.T, file string) recordedReadings {
	t.Helper()
	raw := must.Get(os.ReadFile(file))(t)
	var r struct{ Answer recordedReadings }
	require.NoError(t, json.Unmarshal(raw, &r))
	return r.Answer
}

func TestAnAnswerThatIsNotUnderstoodIsSeen(t *testing.T) {
	in := readingsIn(t, shipped+"/sandbox/gateway.json")
	for i := range in.Readings {
		for j := range in.Readings[i].Exchanges {
			in.Readings[i].Exchanges[j].Body = "<html>Unicorn!</html>"
		}
	}
	now, then := understoodAgain(t, in, true)
	for i := range now {
		assert.NotEqual(t, then[i], now[i])
	}
}
