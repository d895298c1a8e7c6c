package main

import (
	"context"
	"encoding/base64"
	"errors"
	"fmt"
	"net/url"
	"slices"
	"strings"
)

// cleanUp removes everything that begins with prefix, whichever run has made it. What GitHub deletes by no API is closed.
func (w *world) cleanUp(ctx context.Context) error {
	var errs []error
	for _, remove := range []func(context.Context, *world) error{removeRules, removeFiles, removeRefs, closeOpen, removeLabels} {
		if err := remove(ctx, w); err != nil {
			errs = append(errs, err)
		}
	}
	return errors.Join(errs...)
}

// each does something with every entry of a list, which is read again until it has no further page.
func (w *world) each(ctx context.Context, path string, do func(entry any) error) error {
	for page := 1; ; page++ {
		a, err := w.admin.rest(ctx, "GET", fmt.Sprintf("%s&per_page=100&page=%d", path, page), nil)
		if a, err = a.want(err, 200); err != nil {
			return fmt.Errorf("list %s: %w", path, err)
		}
		for _, entry := range a.list() {
			if err := do(entry); err != nil {
				return err
			}
		}
		if !strings.Contains(a.header.Get("Link"), `rel="next"`) {
			return nil
		}
	}
}

func (w *world) delete(ctx context.Context, path string) error {
	if _, err := w.admin.need(ctx, "DELETE", path, nil, 200, 204, 404, 422); err != nil {
		return fmt.Errorf("delete %s: %w", path, err)
	}
	return nil
}

// removeRules is the first thing to do: they would keep branches from being deleted.
func removeRules(ctx context.Context, w *world) error {
	var ids []string
	if err := w.each(ctx, "~/rulesets?includes_parents=false", func(r any) error {
		if name, _ := at(r, "name").(string); strings.HasPrefix(name, prefix) {
			ids = append(ids, fmt.Sprint(at(r, "id")))
		}
		return nil
	}); err != nil {
		return err
	}
	for _, id := range ids {
		if err := w.delete(ctx, "~/rulesets/"+id); err != nil {
			return err
		}
	}
	var branches []string
	err := w.each(ctx, "~/branches?protected=true", func(b any) error {
		if name, _ := at(b, "name").(string); strings.HasPrefix(name, prefix) {
			branches = append(branches, name)
		}
		return nil
	})
	for _, name := range branches {
		err = errors.Join(err, w.delete(ctx, "~/branches/"+url.PathEscape(name)+"/protection"))
	}
	if w.control != "" {
		err = errors.Join(err, w.set(ctx, "pushes", facts{}))
	}
	return err
}

// closeOpen closes issues, and pull requests that the loss of their branches has not closed.
func closeOpen(ctx context.Context, w *world) error {
	var numbers []string
	if err := w.each(ctx, "~/issues?state=open", func(i any) error {
		if title, _ := at(i, "title").(string); strings.HasPrefix(title, prefix) {
			numbers = append(numbers, fmt.Sprint(at(i, "number")))
		}
		return nil
	}); err != nil {
		return err
	}
	for _, n := range numbers {
		if _, err := w.admin.need(ctx, "PATCH", "~/issues/"+n, facts{"state": "closed"}, 200, 404, 410); err != nil {
			return fmt.Errorf("close #%s: %w", n, err)
		}
	}
	return nil
}

// refPlaces are where refs are made, as the API lists them.
var refPlaces = []string{"heads/" + prefix, "tags/" + prefix, prefix, "heads/agent/small", "heads/mergexo", "mergexo"}

// removeRefs deletes branches, tags and hidden refs, and those that MergeXO has made: many at once where that is allowed.
func removeRefs(ctx context.Context, w *world) error {
	var refs []string
	for _, place := range refPlaces {
		if err := w.each(ctx, "~/git/matching-refs/"+place+"?x", func(r any) error {
			refs = append(refs, fmt.Sprint(at(r, "ref")))
			return nil
		}); err != nil {
			return err
		}
	}
	for some := range slices.Chunk(refs, 50) {
		args := []string{"push", "-q", w.git.remote(w.admin)}
		for _, ref := range some {
			args = append(args, ":"+ref)
		}
		if _, err := w.git.run(ctx, args...); err == nil {
			continue
		}
		for _, ref := range some {
			if err := w.delete(ctx, "~/git/"+ref); err != nil {
				return err
			}
		}
	}
	return nil
}

// ownFiles are those that a step brings to the default branch, each with ownMark in it.
var ownFiles = []string{workflowPath, settingsPath, agentPath, landedPath}

// ownMark tells a file of ours from one of that name that is somebody else's.
const ownMark = "made by scripts/live"

// removeFiles takes our files off the default branch.
func removeFiles(ctx context.Context, w *world) error {
	for _, name := range ownFiles {
		a, err := w.admin.rest(ctx, "GET", "~/contents/"+name, nil)
		if a, err = a.want(err, 200, 404); err != nil {
			return fmt.Errorf("read %s: %w", name, err)
		}
		text, _ := base64.StdEncoding.DecodeString(strings.ReplaceAll(a.str("content"), "\n", ""))
		if !strings.Contains(string(text), ownMark) {
			continue
		}
		if _, err := w.admin.need(ctx, "DELETE", "~/contents/"+name, facts{"message": "Remove " + name, "sha": a.str("sha")}, 200); err != nil {
			return fmt.Errorf("remove %s: %w", name, err)
		}
	}
	return nil
}

// removeLabels deletes labels, which were made for issues that are closed by now.
func removeLabels(ctx context.Context, w *world) error {
	var names []string
	err := w.each(ctx, "~/labels?x", func(l any) error {
		if name, _ := at(l, "name").(string); strings.HasPrefix(name, prefix) || at(l, "description") == ownMark {
			names = append(names, name)
		}
		return nil
	})
	for _, name := range names {
		err = errors.Join(err, w.delete(ctx, "~/labels/"+url.PathEscape(name)))
	}
	return err
}
