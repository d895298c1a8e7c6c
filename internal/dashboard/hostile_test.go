package dashboard

import (
	"errors"
	"reflect"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"golang.org/x/net/html"

	"github.com/mergexo/mergexo/internal/model"
	"github.com/mergexo/mergexo/internal/must"
)

const hostile = `"'><script>alert(1)</script><img src=x onerror=alert(1)>{{.URL}}</style></svg><!-- --> javascript:alert(1) https://evil.example/`

// spoil puts text into every string of v, at any depth.
func spoil(v reflect.Value, text string) {
	switch v.Kind() {
	case reflect.String:
		v.SetString(text)
	case reflect.Pointer:
		if !v.IsNil() {
			spoil(v.Elem(), text)
		}
	case reflect.Slice:
		for i := range v.Len() {
			spoil(v.Index(i), text)
		}
	case reflect.Struct:
		if v.Type() == reflect.TypeFor[time.Time]() {
			return
		}
		for i := range v.NumField() {
			spoil(v.Field(i), text)
		}
	}
}

// elements are all of a page, and its text.
func elements(t *testing.T, page string) (all []*html.Node, text string) {
	t.Helper()
	root := must.Get(html.Parse(strings.NewReader(page)))(t)
	var b strings.Builder
	for n := range root.Descendants() {
		switch n.Type {
		case html.ElementNode:
			all = append(all, n)
		case html.TextNode:
			b.WriteString(n.Data)
		}
	}
	return all, b.String()
}

func attribute(n *html.Node, name string) string {
	for _, a := range n.Attr {
		if a.Key == name {
			return a.Val
		}
	}
	return ""
}

func TestTextOfOthersIsShownAndNotObeyed(t *testing.T) {
	tags := map[string]int{}
	all, _ := elements(t, written(t, everything()))
	for _, n := range all {
		tags[n.Data]++
	}
	for name, spoilt := range map[string]string{
		"markup": hostile, "a script for a link": "javascript:alert(1)//https://github.com/octo/widgets", "another server": "https://evil.example/octo/widgets/pull/1",
		"a name before the server": "https://github.com@evil.example/", "no scheme": "//evil.example/", "no UTF-8": "\xff\xfe", "controls": "\x00\x1b[31m\u202e\u2066<b>",
	} {
		t.Run(name, func(t *testing.T) {
			b := everything()
			spoil(reflect.ValueOf(&b).Elem(), spoilt)
			b.URL = repoURL
			all, text := elements(t, written(t, b))
			for _, n := range all {
				assert.Positive(t, tags[n.Data], "<%s> is none of ours", n.Data)
				for _, a := range n.Attr {
					assert.False(t, strings.HasPrefix(a.Key, "on") || a.Key == "style" || a.Key == "src", "%s=%q", a.Key, a.Val)
				}
				if href := attribute(n, "href"); href != "" && href[0] != '#' && href != "data:," {
					assert.True(t, href == repoURL || strings.HasPrefix(href, repoURL+"/"), href)
				}
			}
			if name == "markup" {
				assert.Contains(t, text, hostile)
			}
			assert.NotContains(t, text, "\u202e")
			assert.NotContains(t, text, "\x1b")
		})
	}
}

func TestLinksLeadToTheServerOfTheRepository(t *testing.T) {
	for _, c := range []struct{ repo, address, want string }{
		{repoURL, repoURL + "/pull/7#issuecomment-1", repoURL + "/pull/7#issuecomment-1"},
		{repoURL, "https://github.com/octo/gadgets/pull/1", "https://github.com/octo/gadgets/pull/1"},
		{repoURL, "https://gist.github.com/1", ""}, {repoURL, "https://github.com.evil.example/1", ""}, {repoURL, "https://octo@github.com/1", ""},
		{repoURL, "ftp://github.com/1", ""}, {repoURL, "/octo/widgets", ""}, {repoURL, "", ""}, {repoURL, "https://github.com/%zz", ""},
		{"http://127.0.0.1:8080/octo/widgets", "http://127.0.0.1:8080/octo/widgets/pull/1", "http://127.0.0.1:8080/octo/widgets/pull/1"},
		{"http://127.0.0.1:8080/octo/widgets", "http://127.0.0.1:8081/octo/widgets/pull/1", ""},
		{"javascript:alert(1)", "javascript:alert(1)", ""}, {"", "https://github.com/octo/widgets", ""},
	} {
		page := written(t, model.Board{URL: c.repo, At: now, Issues: []model.BoardIssue{{Number: 7, URL: c.address}}})
		all, _ := elements(t, page)
		got := ""
		for _, n := range all {
			if n.Data == "a" && n.Parent.Data == "h4" {
				got = attribute(n, "href")
			}
		}
		assert.Equal(t, c.want, got, c.address)
	}
}

func TestTheSameBoardGivesTheSameBytes(t *testing.T) {
	want := written(t, everything())
	b := everything()
	b.At = b.At.In(time.FixedZone("elsewhere", 3*60*60))
	for i := range b.Pulls {
		b.Pulls[i].Updated = b.Pulls[i].Updated.In(time.FixedZone("elsewhere", -7*60*60))
	}
	for range 5 {
		require.Equal(t, want, written(t, b))
	}
}

type full struct{}

func (full) Write([]byte) (int, error) { return 0, errors.New("no space left") }

func TestAFullDiskIsSaid(t *testing.T) {
	assert.EqualError(t, Write(full{}, everything()), "write the dashboard: no space left")
}

func TestAThousandPullRequestsStayUsable(t *testing.T) {
	page := written(t, many(1000))
	assert.Less(t, len(page), 2_000_000)
	all, text := elements(t, page)
	count, ids := map[string]int{}, map[string]int{}
	for _, n := range all {
		count[attribute(n, "class")]++
		ids[attribute(n, "id")]++
	}
	delete(ids, "")
	for id, n := range ids {
		assert.Equal(t, 1, n, id)
	}
	for _, n := range all {
		if target, ok := strings.CutPrefix(attribute(n, "href"), "#"); ok {
			assert.Equal(t, 1, ids[target], target)
		}
	}
	assert.Equal(t, 1000, count["row"]+count["row check-fails"])
	assert.Equal(t, openRows, count["history"], "with a table of turns")
	assert.Contains(t, text, "80 more", "of a hundred that need a person")
	assert.Contains(t, text, "The table shows the 30 pull requests with the most conflicts, and leaves out 170 more.")

	_, text = elements(t, written(t, many(2100)))
	assert.Contains(t, text, "This page leaves out 100 more.")
	assert.Contains(t, text, "This page leaves out 10 more conflicts.")
}
