package sandbox

import (
	"crypto/rand"
	"encoding/base64"
	"fmt"
	"maps"
	"net/http"
	"regexp"
	"slices"
	"strings"
	"time"

	"golang.org/x/crypto/nacl/box"
)

// secretRoutes are what workflows are configured with: https://docs.github.com/en/rest/actions/secrets,
// https://docs.github.com/en/rest/actions/variables
var secretRoutes = []route{
	{"GET /repos/{owner}/{repo}/actions/secrets", needWrite, "secrets=read", listSettings("secrets", secretsOf, secretJSON)},
	{"GET /repos/{owner}/{repo}/actions/secrets/public-key", needWrite, "secrets=read", getPublicKey},
	{"GET /repos/{owner}/{repo}/actions/secrets/{name}", needWrite, "secrets=read", getSecret},
	{"PUT /repos/{owner}/{repo}/actions/secrets/{name}", needWrite, "secrets=write", withBody(putSecret)},
	{"DELETE /repos/{owner}/{repo}/actions/secrets/{name}", needWrite, "secrets=write", deleteSetting(secretsOf)},
	{"GET /repos/{owner}/{repo}/actions/organization-secrets", needWrite, "secrets=read", listSettings("secrets", func(*Repository) map[string]*Setting { return nil }, secretJSON)},
	{"GET /repos/{owner}/{repo}/actions/organization-variables", needWrite, "actions_variables=read", listSettings("variables", func(*Repository) map[string]*Setting { return nil }, variableJSON)},
	{"GET /repos/{owner}/{repo}/actions/variables", needWrite, "actions_variables=read", listSettings("variables", variablesOf, variableJSON)},
	{"POST /repos/{owner}/{repo}/actions/variables", needWrite, "actions_variables=write", withBody(createVariable)},
	{"PATCH /repos/{owner}/{repo}/actions/variables/{name}", needWrite, "actions_variables=write", withBody(patchVariable)},
	{"DELETE /repos/{owner}/{repo}/actions/variables/{name}", needWrite, "actions_variables=write", deleteSetting(variablesOf)},
}

// Setting is a secret or a variable of a repository, under its name in capitals.
type Setting struct {
	Value                string
	CreatedAt, UpdatedAt time.Time
}

// sealing is the key pair with which secrets are sent: a sealed box of libsodium, which only the repository can open.
// https://docs.github.com/en/rest/guides/encrypting-secrets-for-the-rest-api
type sealing struct{ Public, Private *[32]byte }

func (k *sealing) id() string { return fmt.Sprintf("%d", k.Public[0]) }

// sealingOf makes the key pair at its first use.
func sealingOf(w world, r *Repository) (*sealing, error) {
	if r.Sealing == nil {
		public, private, err := box.GenerateKey(rand.Reader)
		if err != nil {
			return nil, err
		}
		r.Sealing = &sealing{public, private}
		w.changed()
	}
	return r.Sealing, nil
}

func secretsOf(r *Repository) map[string]*Setting   { return r.Secrets }
func variablesOf(r *Repository) map[string]*Setting { return r.Variables }

func deleteSetting(of func(*Repository) map[string]*Setting) func(*request) (any, error) {
	return func(q *request) (any, error) {
		all, name := of(q.repo), strings.ToUpper(q.r.PathValue("name"))
		if all[name] == nil {
			return nil, errNotFound
		}
		delete(all, name)
		return q.changed()
	}
}

func secretJSON(name string, s *Setting) obj {
	return obj{"name": name, "created_at": stamp(s.CreatedAt), "updated_at": stamp(s.UpdatedAt)}
}

func variableJSON(name string, s *Setting) obj {
	return obj{"name": name, "value": s.Value, "created_at": stamp(s.CreatedAt), "updated_at": stamp(s.UpdatedAt)}
}

func listSettings(kind string, of func(*Repository) map[string]*Setting, render func(string, *Setting) obj) func(*request) (any, error) {
	return func(q *request) (any, error) {
		all := of(q.repo)
		return obj{"total_count": len(all), kind: paginate(q, slices.Sorted(maps.Keys(all)), func(name string) obj { return render(name, all[name]) })}, nil
	}
}

func getPublicKey(q *request) (any, error) {
	key, err := sealingOf(q.s.world, q.repo)
	if err != nil {
		return nil, err
	}
	return obj{"key_id": key.id(), "key": base64.StdEncoding.EncodeToString(key.Public[:])}, nil
}

func getSecret(q *request) (any, error) {
	name := strings.ToUpper(q.r.PathValue("name"))
	if s := q.repo.Secrets[name]; s != nil {
		return secretJSON(name, s), nil
	}
	return nil, errNotFound
}

// settingName is what secrets and variables may be called:
// https://docs.github.com/en/actions/reference/security/secrets#naming-your-secrets
var settingName = regexp.MustCompile(`^[A-Z_][A-Z0-9_]*$`)

func checkName(name string) error {
	if !settingName.MatchString(name) || strings.HasPrefix(name, "GITHUB_") {
		return unprocessable("Secret and variable names can only contain alphanumeric characters ([a-z], [A-Z], [0-9]) or underscores (_). Spaces are not allowed. They must start with a letter ([a-z], [A-Z]) or underscores (_), and must not start with GITHUB_.")
	}
	return nil
}

func putSecret(q *request, in struct {
	Value string `json:"encrypted_value"`
	KeyID string `json:"key_id"`
}) (any, error) {
	name := strings.ToUpper(q.r.PathValue("name"))
	if err := checkName(name); err != nil {
		return nil, err
	}
	key, err := sealingOf(q.s.world, q.repo)
	if err != nil {
		return nil, err
	}
	sealed, err := base64.StdEncoding.DecodeString(in.Value)
	plain, opened := box.OpenAnonymous(nil, sealed, key.Public, key.Private)
	if in.KeyID != key.id() || err != nil || !opened {
		return nil, unprocessable("Bad request - The secret could not be decrypted with the public key")
	}
	if q.repo.Secrets == nil {
		q.repo.Secrets = map[string]*Setting{}
	}
	if setSetting(q.s.world, q.repo.Secrets, name, string(plain)) {
		return &reply{http.StatusCreated, obj{}}, nil
	}
	return &reply{status: http.StatusNoContent}, nil
}

// setSetting makes a setting or changes it, and reports whether it is new.
func setSetting(w world, all map[string]*Setting, name, value string) (fresh bool) {
	now := w.now()
	was := all[name]
	if all[name] = (&Setting{Value: value, CreatedAt: now, UpdatedAt: now}); was != nil {
		all[name].CreatedAt = was.CreatedAt
	}
	w.changed()
	return was == nil
}

func createVariable(q *request, in struct{ Name, Value string }) (any, error) {
	name := strings.ToUpper(in.Name)
	if err := checkName(name); err != nil {
		return nil, err
	}
	if q.repo.Variables[name] != nil {
		return nil, &failure{status: http.StatusConflict, message: "Already exists - Variable already exists"}
	}
	if q.repo.Variables == nil {
		q.repo.Variables = map[string]*Setting{}
	}
	setSetting(q.s.world, q.repo.Variables, name, in.Value)
	return &reply{http.StatusCreated, obj{}}, nil
}

func patchVariable(q *request, in struct{ Value string }) (any, error) {
	name := strings.ToUpper(q.r.PathValue("name"))
	if q.repo.Variables[name] == nil {
		return nil, errNotFound
	}
	setSetting(q.s.world, q.repo.Variables, name, in.Value)
	return &reply{status: http.StatusNoContent}, nil
}

// controlSecrets gives the values of a repository's secrets, which GitHub itself gives to workflows only.
func controlSecrets(q *request) (any, error) {
	r := q.s.world.repository(q.r.PathValue("owner"), q.r.PathValue("repo"))
	if r == nil {
		return nil, errNotFound
	}
	values := obj{}
	for name, s := range r.Secrets {
		values[name] = s.Value
	}
	return values, nil
}
