package sandbox

import (
	"crypto/rand"
	"crypto/rsa"
	"crypto/x509"
	"encoding/json"
	"encoding/pem"
	"fmt"
	"net/http"
	"net/url"
	"regexp"
	"slices"
	"strings"
	"time"
)

// manifestRoutes are the end of the flow by which a program has an App made:
// https://docs.github.com/en/apps/sharing-github-apps/registering-a-github-app-from-a-manifest
var manifestRoutes = []route{{"POST /app-manifests/{code}/conversions", needNothing, "", convertManifest}}

// Manifest is an App that somebody has agreed to, until its code is traded for its key.
type Manifest struct {
	Code        string `json:"-"`
	Owner       string `json:"-"` // login
	Name        string
	URL         string
	RedirectURL string            `json:"redirect_url"`
	SetupURL    string            `json:"setup_url"`
	Permissions map[string]string `json:"default_permissions"`
}

var slugged = regexp.MustCompile(`[^a-z0-9]+`)

// serveManifest serves the two pages of the flow on which people say yes, as if they had: the one that makes the App and the one
// that installs it. Nobody signs in here; the App is the owner's of the first repository, or the organization's of the address.
func (s *Server) serveManifest(w http.ResponseWriter, r *http.Request) {
	s.mu.Lock()
	to, err := agree(s.world, r)
	s.mu.Unlock()
	if err != nil {
		http.Error(w, err.Error(), http.StatusUnprocessableEntity)
		return
	}
	http.Redirect(w, r, to, http.StatusFound)
}

// isManifestPage tells whether a path is one of those pages.
func isManifestPage(path string) bool {
	return strings.HasSuffix(path, "/settings/apps/new") || path == "/settings/apps/new" || strings.HasPrefix(path, "/apps/") && strings.HasSuffix(path, "/installations/new")
}

// agree does what somebody agrees to, and gives the address to which GitHub sends them next.
func agree(w world, r *http.Request) (string, error) {
	if slug, ok := strings.CutSuffix(strings.TrimPrefix(r.URL.Path, "/apps/"), "/installations/new"); ok {
		return installApp(w, slug)
	}
	if len(w.st.Repositories) == 0 {
		return "", unprocessable("there is no repository, and so nobody whose App it would be")
	}
	m := &Manifest{Code: rand.Text(), Owner: w.st.Repositories[0].Owner}
	if parts := strings.Split(r.URL.Path, "/"); len(parts) > 2 && parts[1] == "organizations" {
		m.Owner = parts[2]
	}
	if err := json.Unmarshal([]byte(r.FormValue("manifest")), m); err != nil {
		return "", unprocessable("manifest: " + err.Error())
	}
	back, err := url.Parse(m.RedirectURL)
	if err != nil || m.Name == "" || m.URL == "" || len(m.Name) > 34 {
		return "", unprocessable("manifest: want a name of at most 34 characters, url and redirect_url")
	}
	w.st.Manifests = append(w.st.Manifests, m)
	w.changed()
	q := back.Query()
	q.Set("code", m.Code)
	q.Set("state", r.URL.Query().Get("state"))
	back.RawQuery = q.Encode()
	return back.String(), nil
}

// installApp installs an App for all repositories of its owner.
func installApp(w world, slug string) (string, error) {
	i := slices.IndexFunc(w.st.Apps, func(a *App) bool { return a.Slug == slug })
	if i < 0 {
		return "", errNotFound
	}
	a := w.st.Apps[i]
	a.Account = a.Owner
	for _, r := range w.st.Repositories {
		if a.reaches(r) {
			r.Permissions[strings.ToLower(a.login())] = "write"
		}
	}
	w.changed()
	if a.SetupURL == "" {
		return fmt.Sprintf("/settings/installations/%d", a.Installation), nil
	}
	return fmt.Sprintf("%s?installation_id=%d&setup_action=install", a.SetupURL, a.Installation), nil
}

// convertManifest trades a code, once.
func convertManifest(q *request) (any, error) {
	w := q.s.world
	i := slices.IndexFunc(w.st.Manifests, func(m *Manifest) bool { return m.Code == q.r.PathValue("code") })
	if i < 0 {
		return nil, errNotFound
	}
	m := w.st.Manifests[i]
	w.st.Manifests = slices.Delete(w.st.Manifests, i, i+1)
	key, err := rsa.GenerateKey(rand.Reader, 2048)
	if err != nil {
		return nil, err
	}
	public, err := x509.MarshalPKIXPublicKey(&key.PublicKey)
	if err != nil {
		return nil, err
	}
	a := &App{
		ID: w.nextSmallID(), Slug: strings.Trim(slugged.ReplaceAllString(strings.ToLower(m.Name), "-"), "-"), Installation: w.nextSmallID(), Owner: m.Owner,
		SetupURL: m.SetupURL, Permissions: m.Permissions, CreatedAt: w.now(), PublicKey: string(pem.EncodeToMemory(&pem.Block{Type: "PUBLIC KEY", Bytes: public})),
	}
	a.ClientID = fmt.Sprintf("Iv23%d", a.ID)
	w.st.Apps = append(w.st.Apps, a)
	w.ensureUser(a.login(), "Bot")
	w.changed()
	return &reply{http.StatusCreated, obj{
		"id": a.ID, "slug": a.Slug, "node_id": nodeID("A", a.ID), "client_id": a.ClientID, "owner": q.s.json.user(w.author(a.Owner)), "name": m.Name, "description": nil,
		"external_url": m.URL, "html_url": q.s.origin + "/apps/" + a.Slug, "created_at": a.CreatedAt.Format(time.RFC3339), "updated_at": a.CreatedAt.Format(time.RFC3339),
		"permissions": a.Permissions, "events": []string{}, "client_secret": rand.Text(), "webhook_secret": nil,
		"pem": string(pem.EncodeToMemory(&pem.Block{Type: "RSA PRIVATE KEY", Bytes: x509.MarshalPKCS1PrivateKey(key)})),
	}}, nil
}
