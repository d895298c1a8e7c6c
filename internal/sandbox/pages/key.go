package pages

import (
	"crypto/subtle"
	"encoding/base64"
	"net/http"
	"strings"
)

// admit lets in who knows the key: a browser that was once at the address with ?key=, and programs whose token begins with it. The
// loopback device is everybody's on the machine, and what the sandbox's people push may be run.
func (p *Pages) admit(next http.Handler) http.Handler {
	if p.Key == "" {
		return next
	}
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.Method == http.MethodGet && p.isKey(r.URL.Query().Get("key")) {
			http.SetCookie(w, &http.Cookie{Name: "key", Value: p.Key, Path: "/", HttpOnly: true, SameSite: http.SameSiteStrictMode})
			http.Redirect(w, r, "/"+strings.TrimLeft(r.URL.Path, "/"), http.StatusSeeOther) // "//x" would be another host
			return
		}
		c, err := r.Cookie("key")
		if err == nil && p.isKey(c.Value) || r.URL.Path == sheet || r.URL.Path == icon || p.unlock(r) {
			next.ServeHTTP(w, r)
			return
		}
		if strings.Contains(r.Header.Get("Accept"), "text/html") { // a browser, which would ask for a name and a password
			p.answer(w, &view{Pages: p, r: r}, &page{Title: "The key is missing", status: http.StatusForbidden}, "locked", nil)
			return
		}
		w.Header().Set("WWW-Authenticate", `Basic realm="sandbox"`) // git shows its token only when it is asked
		http.Error(w, "open the address that mergexo sandbox --demo has printed: it has the key", http.StatusUnauthorized)
	})
}

func (p *Pages) isKey(given string) bool {
	return subtle.ConstantTimeCompare([]byte(given), []byte(p.Key)) == 1
}

// unlock takes the key off a request's token: KEY.sandbox-octo, as a bearer's or as the password of git.
func (p *Pages) unlock(r *http.Request) bool {
	scheme, value, _ := strings.Cut(r.Header.Get("Authorization"), " ")
	user := ""
	if strings.EqualFold(scheme, "Basic") {
		plain, err := base64.StdEncoding.DecodeString(value)
		if err != nil {
			return false
		}
		user, value, _ = strings.Cut(string(plain), ":")
	}
	key, token, _ := strings.Cut(value, ".")
	if !p.isKey(key) {
		return false
	}
	if user != "" {
		token = base64.StdEncoding.EncodeToString([]byte(user + ":" + token))
	}
	r.Header.Set("Authorization", scheme+" "+token)
	return true
}
