// Package job has what a push asks for and the call that it comes to, the same for every peer in Go.
package job

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"os"
	"time"
)

// Push asks for a call, at once or later.
type Push struct {
	Queue   string          `json:"queue"`
	URL     string          `json:"url"`
	Payload json.RawMessage `json:"payload"`
	// Delay is in seconds.
	Delay float64 `json:"delay,omitempty"`
	RunAt string  `json:"run_at,omitempty"`
}

// DueAt says when the call is due; the zero time is now.
func (p Push) DueAt() (time.Time, error) {
	if p.RunAt != "" {
		return time.Parse(time.RFC3339Nano, p.RunAt)
	}
	if p.Delay > 0 {
		return time.Now().Add(time.Duration(p.Delay * float64(time.Second))), nil
	}
	return time.Time{}, nil
}

// Caller keeps as many connections to the target as there are calls at once.
type Caller struct {
	client *http.Client
}

func NewCaller(concurrency int) *Caller {
	transport := &http.Transport{MaxIdleConns: concurrency, MaxIdleConnsPerHost: concurrency}
	return &Caller{client: &http.Client{Transport: transport, Timeout: 5 * time.Minute}}
}

// Call posts the payload; an answer of 300 and above is an error.
func (c *Caller) Call(ctx context.Context, push Push) error {
	request, err := http.NewRequestWithContext(ctx, http.MethodPost, push.URL, bytes.NewReader(push.Payload))
	if err != nil {
		return err
	}
	request.Header.Set("Content-Type", "application/json")
	response, err := c.client.Do(request)
	if err != nil {
		return err
	}
	defer func() { _ = response.Body.Close() }()
	if _, err := io.Copy(io.Discard, response.Body); err != nil {
		return err
	}
	if response.StatusCode >= http.StatusMultipleChoices {
		return fmt.Errorf("the target answered %d", response.StatusCode)
	}
	return nil
}

// Options are what the harness tells a program, in its last argument.
type Options struct {
	Port        int `json:"port"`
	RedisPort   int `json:"redisPort"`
	Concurrency int `json:"concurrency"`
}

// ReadOptions answers the role, the first argument, and the options.
func ReadOptions() (role string, options Options) {
	if len(os.Args) != 3 {
		Fail(fmt.Errorf("expected a role and options, got %d arguments", len(os.Args)-1))
	}
	if err := json.Unmarshal([]byte(os.Args[2]), &options); err != nil {
		Fail(err)
	}
	return os.Args[1], options
}

// Ready tells the harness that the program takes work.
func Ready() {
	fmt.Println("READY")
}

func Fail(err error) {
	fmt.Fprintln(os.Stderr, err)
	os.Exit(1)
}
