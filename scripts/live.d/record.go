package main

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
)

// record is what one step was answered. One of Answer, NotPossible and Error is set.
type record struct {
	Step        string `json:"step"`
	Asks        string `json:"asks"`
	Who         string `json:"who"` // github or sandbox
	NotPossible string `json:"not_possible,omitempty"`
	Error       string `json:"error,omitempty"`
	Answer      any    `json:"answer,omitempty"`
}

// inShort is a line for people.
func (r record) inShort() string {
	switch {
	case r.NotPossible != "":
		return r.NotPossible
	case r.Error != "":
		return "FAILED: " + r.Error
	}
	return "answered"
}

// text is the record as its file has it.
func (r record) text() ([]byte, error) {
	var b bytes.Buffer
	enc := json.NewEncoder(&b)
	enc.SetEscapeHTML(false)
	enc.SetIndent("", " ")
	if err := enc.Encode(r); err != nil {
		return nil, fmt.Errorf("encode the record of %s: %w", r.Step, err)
	}
	return b.Bytes(), nil
}

// write prints the record, or where there is a directory writes it into that.
func (r record) write(out io.Writer, dir string) error {
	text, err := r.text()
	if err != nil {
		return err
	}
	if dir == "" {
		_, err = out.Write(text)
		return err
	}
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return fmt.Errorf("write records: %w", err)
	}
	if err := os.WriteFile(filepath.Join(dir, r.Step+".json"), text, 0o644); err != nil {
		return fmt.Errorf("write the record of %s: %w", r.Step, err)
	}
	return nil
}

// readRecords reads the records of a directory, by step.
func readRecords(dir string) (map[string]record, error) {
	files, err := filepath.Glob(filepath.Join(dir, "*.json"))
	if err != nil {
		return nil, err
	}
	if len(files) == 0 {
		return nil, fmt.Errorf("%s has no records (*.json): name a directory that --record has filled", dir)
	}
	all := map[string]record{}
	for _, file := range files {
		raw, err := os.ReadFile(file)
		if err != nil {
			return nil, fmt.Errorf("read records: %w", err)
		}
		var r record
		if err := json.Unmarshal(raw, &r); err != nil {
			return nil, fmt.Errorf("read %s: %w", file, err)
		}
		if r.Step != strings.TrimSuffix(filepath.Base(file), ".json") || r.Who != "github" && r.Who != "sandbox" {
			return nil, fmt.Errorf("%s: %w: want its step as its name, and who is github or sandbox", file, errors.New("no record of a step"))
		}
		all[r.Step] = r
	}
	return all, nil
}

// plain is a value as JSON has it: objects, lists, texts, numbers as json.Number, booleans and null.
func plain(v any) any {
	raw, err := json.Marshal(v)
	if err != nil {
		return "cannot be told: " + err.Error()
	}
	dec := json.NewDecoder(bytes.NewReader(raw))
	dec.UseNumber()
	var out any
	if err := dec.Decode(&out); err != nil {
		return "cannot be told: " + err.Error()
	}
	return out
}
