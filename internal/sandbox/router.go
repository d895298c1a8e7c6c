package sandbox

import (
	"net/http"
	"net/url"
	"slices"
	"strings"
)

// router finds routes by path. http.ServeMux cannot hold GitHub's: it takes /issues/{number}/labels and
// /issues/comments/{id} for a conflict, where GitHub lets the word that comes first win.
type router struct {
	routes []routePath
}

type routePath struct {
	route
	method   string
	segments []string
}

func (rt *router) add(table ...route) {
	for _, r := range table {
		method, path, _ := strings.Cut(r.pattern, " ")
		rt.routes = append(rt.routes, routePath{r, method, strings.Split(strings.Trim(path, "/"), "/")})
	}
	slices.SortStableFunc(rt.routes, func(a, b routePath) int { return compareSegments(a.segments, b.segments) })
}

// compareSegments puts words before {names}, and those before a {rest...}.
func compareSegments(a, b []string) int {
	rank := func(s string) int {
		switch {
		case strings.HasSuffix(s, "...}"):
			return 2
		case strings.HasPrefix(s, "{"):
			return 1
		}
		return 0
	}
	for i := range min(len(a), len(b)) {
		if d := rank(a[i]) - rank(b[i]); d != 0 {
			return d
		}
	}
	return len(b) - len(a)
}

// find gives the route of a request and sets the request's path values.
func (rt *router) find(r *http.Request, prefix string) (route, bool) {
	path := strings.Split(strings.Trim(strings.TrimPrefix(r.URL.EscapedPath(), prefix), "/"), "/")
	for _, p := range rt.routes {
		if p.method == r.Method || p.method == http.MethodGet && r.Method == http.MethodHead {
			if values, ok := matchSegments(p.segments, path); ok {
				for k, v := range values {
					r.SetPathValue(k, v)
				}
				return p.route, true
			}
		}
	}
	return route{}, false
}

func matchSegments(pattern, path []string) (map[string]string, bool) {
	values := map[string]string{}
	for i, seg := range pattern {
		if name, ok := strings.CutSuffix(seg, "...}"); ok {
			if i > len(path) {
				return nil, false
			}
			rest, err := url.PathUnescape(strings.Join(path[i:], "/"))
			values[name[1:]] = rest
			return values, err == nil
		}
		if i >= len(path) {
			return nil, false
		}
		if !strings.HasPrefix(seg, "{") {
			if seg != path[i] {
				return nil, false
			}
			continue
		}
		v, err := url.PathUnescape(path[i])
		if err != nil || v == "" {
			return nil, false
		}
		values[seg[1:len(seg)-1]] = v
	}
	return values, len(path) == len(pattern)
}
