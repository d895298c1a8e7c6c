package main

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
)

// handle starts mergexo for the newest event of that name which a person set off, as the installed workflow would. On GitHub
// the workflow does it.
func (w *world) handle(ctx context.Context, event string) error {
	if w.sandbox == nil {
		return nil
	}
	cmd, said, err := w.mergexo(ctx, event)
	if err != nil {
		return err
	}
	if err := cmd.Run(); err != nil {
		return fmt.Errorf("mergexo, for %s: %w: %s", event, err, strings.TrimSpace(said.String()))
	}
	return nil
}

// mergexo is the program, ready to be started for an event.
func (w *world) mergexo(ctx context.Context, event string) (*exec.Cmd, *bytes.Buffer, error) {
	a, err := (&caller{w: w}).send(ctx, "GET", w.control+"/deliveries", nil)
	if a, err = a.want(err, 200); err != nil {
		return nil, nil, err
	}
	var payload any
	for _, d := range a.list() {
		if at(d, "event") == event && at(d, "payload.sender.type") == "User" {
			payload = at(d, "payload")
		}
	}
	if payload == nil {
		return nil, nil, fmt.Errorf("the sandbox has delivered no %s", event)
	}
	raw, err := json.Marshal(payload)
	if err != nil {
		return nil, nil, err
	}
	w.runs++
	temp := filepath.Join(w.dir, "runs", strconv.Itoa(w.runs))
	file := filepath.Join(temp, "event.json")
	if err = os.MkdirAll(temp, 0o755); err == nil {
		err = os.WriteFile(file, raw, 0o644)
	}
	if err != nil {
		return nil, nil, fmt.Errorf("write the event: %w", err)
	}
	self, err := os.Executable()
	if err != nil {
		return nil, nil, err
	}
	cmd, said := exec.CommandContext(ctx, self, asMergeXO, "run"), &bytes.Buffer{}
	cmd.Stdout, cmd.Stderr, cmd.Dir = said, said, temp
	cmd.Env = []string{
		"PATH=" + os.Getenv("PATH"), "HOME=" + w.dir, "INPUT_TOKEN=" + w.app.token, "GITHUB_ACTIONS=true", "GITHUB_EVENT_NAME=" + event, "GITHUB_EVENT_PATH=" + file,
		"GITHUB_REPOSITORY=" + w.repo.String(), "GITHUB_API_URL=" + w.api, "GITHUB_GRAPHQL_URL=" + w.graphql, "GITHUB_SERVER_URL=" + w.server,
		"GITHUB_RUN_ID=" + strconv.Itoa(1000+w.runs), "GITHUB_WORKFLOW_REF=" + w.repo.String() + "/" + workflowPath + "@refs/heads/" + w.main,
		"RUNNER_TEMP=" + temp, "GITHUB_OUTPUT=" + filepath.Join(temp, "output"), "GITHUB_STEP_SUMMARY=" + filepath.Join(temp, "summary"),
	}
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true} // the terminal's Ctrl-C is for this process, which tells it
	cmd.Cancel = func() error { return cmd.Process.Signal(syscall.SIGINT) }
	return cmd, said, nil
}

// interrupt starts mergexo for a label, and stops it as a runner does once its agent has begun.
// https://docs.github.com/en/actions/reference/workflows-and-actions/workflow-cancellation
func (w *world) interrupt(ctx context.Context, number string) (facts, error) {
	cmd, said, err := w.mergexo(ctx, "issues")
	if err != nil {
		return nil, err
	}
	if err := cmd.Start(); err != nil {
		return nil, err
	}
	ended := make(chan error, 1)
	go func() { ended <- cmd.Wait() }()
	early := false
	_, err = w.until(ctx, func() (bool, error) {
		select {
		case end := <-ended:
			ended <- end
			early = true
			return true, nil
		default:
		}
		halves, err := filepath.Glob(filepath.Join(w.dir, "runs", "*", "*", "half.txt"))
		deeper, _ := filepath.Glob(filepath.Join(w.dir, "runs", "*", "*", "*", "half.txt"))
		return len(halves)+len(deeper) > 0, err
	})
	if err != nil {
		<-ended // what ends ctx ends it
		return nil, err
	}
	if early {
		return nil, fmt.Errorf("mergexo ended before its agent had begun: %v: %s", <-ended, strings.TrimSpace(said.String()))
	}
	if err := cmd.Process.Signal(syscall.SIGINT); err != nil {
		return nil, err
	}
	<-ended
	return facts{"conclusion": "cancelled"}, nil
}
