package agent

import (
	"bytes"
	"fmt"
	"regexp"
	"strconv"
	"strings"

	"github.com/mergexo/mergexo/internal/model"
	"github.com/mergexo/mergexo/internal/strictjson"
)

// decodeMessage reads the outcome out of what a model wrote last: exactly one JSON object, with or without a fence or
// prose around it.
func decodeMessage(text string, req model.Request) (model.Outcome, error) {
	object, err := onlyObject(text)
	if err != nil {
		return model.Outcome{}, err
	}
	return Decode(object, req)
}

// onlyObject finds the one JSON object in a text. A brace is the beginning of one when a name or the other brace follows;
// what begins so and goes wrong is an error, or else a part of a broken answer would be taken for the whole. Empty
// objects count only when there is no other: prose about code is full of them.
func onlyObject(text string) ([]byte, error) {
	var found [][]byte
	empty := 0
	for rest := []byte(text); ; {
		at := bytes.IndexByte(rest, '{')
		if at < 0 {
			break
		}
		rest = rest[at:]
		if next := bytes.TrimLeft(rest[1:], " \t\r\n"); len(next) == 0 || next[0] != '"' && next[0] != '}' {
			rest = rest[1:]
			continue
		}
		object, after, err := strictjson.First(rest)
		if err != nil {
			return nil, wrong("its answer is not JSON (%v): it begins with \"%s\"", err, words{text: string(rest), most: 80})
		}
		if len(bytes.Trim(object, "{} \t\r\n")) == 0 {
			empty++
		} else {
			found = append(found, object)
		}
		rest = after
	}
	switch {
	case len(found) == 1:
		return found[0], nil
	case len(found) > 1:
		return nil, wrong("its answer has %d JSON objects: want one; the second begins with \"%s\"", len(found), words{text: string(found[1]), most: 80})
	case empty == 1:
		return []byte("{}"), nil
	case strings.TrimSpace(text) == "":
		return nil, wrong("its answer is empty: want one JSON object")
	}
	return nil, wrong("its answer has no JSON object: it begins with \"%s\"", words{text: strings.TrimSpace(text), most: 80})
}

// session names a session in a receipt: the program's own id, and the usage that it last reported. The programs count from the
// start of a session, over all its turns, but a receipt shows the usage of one turn. The name carries the earlier usage so that
// another runner can subtract it too.
type session struct {
	id   string
	used model.Usage
}

// uuid matches the ids of both programs. Nothing else is passed to them: Codex would start a new session of that name, and an
// id with a leading dash would be a flag.
var uuid = regexp.MustCompile(`^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$`)

func (s session) String() string {
	return fmt.Sprintf("%s/%d/%d/%s", s.id, s.used.InputTokens, s.used.OutputTokens, strconv.FormatFloat(s.used.CostUSD, 'f', -1, 64))
}

// readSession reads a name that String gave, or an id alone; "" is no session.
func readSession(name string) (session, error) {
	if name == "" {
		return session{}, nil
	}
	part := strings.Split(name, "/")
	out := session{id: part[0]}
	bad := !uuid.MatchString(out.id)
	if len(part) == 4 {
		var err [3]error
		out.used.InputTokens, err[0] = strconv.ParseInt(part[1], 10, 64)
		out.used.OutputTokens, err[1] = strconv.ParseInt(part[2], 10, 64)
		out.used.CostUSD, err[2] = strconv.ParseFloat(part[3], 64)
		bad = bad || err != [3]error{}
	}
	if bad || len(part) != 1 && len(part) != 4 {
		return session{}, &Error{Kind: NoSession, Exit: -1, Detail: fmt.Sprintf("session \"%s\" is not one of this adapter's", excerpt(name, 80))}
	}
	return out, nil
}

// since returns how much now exceeds before. A total that is smaller has been reset.
func since[N int64 | float64](now, before N) N {
	if now < before {
		return now
	}
	return now - before
}
