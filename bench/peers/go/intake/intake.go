// Package intake is the least API over a peer, the same for each in Go: POST /api/jobs without validation.
package intake

import (
	"context"
	"encoding/json"
	"fmt"
	"net"
	"net/http"

	"punctual/bench/peers/job"
)

const batchMax = 128

// Add stores a push and answers its id.
type Add func(ctx context.Context, push job.Push) (string, error)

// AddMany stores pushes at once and answers their ids, in order.
type AddMany func(ctx context.Context, pushes []job.Push) ([]string, error)

// Serve answers 201 to a push once it is stored, and 503 where it could not be.
func Serve(port int, add Add) error {
	listener, err := net.Listen("tcp", fmt.Sprintf("127.0.0.1:%d", port))
	if err != nil {
		return err
	}
	job.Ready()
	return http.Serve(listener, http.HandlerFunc(func(response http.ResponseWriter, request *http.Request) {
		var push job.Push
		if err := json.NewDecoder(request.Body).Decode(&push); err != nil {
			http.Error(response, err.Error(), http.StatusBadRequest)
			return
		}
		id, err := add(request.Context(), push)
		if err != nil {
			http.Error(response, err.Error(), http.StatusServiceUnavailable)
			return
		}
		response.Header().Set("Content-Type", "application/json")
		response.WriteHeader(http.StatusCreated)
		fmt.Fprintf(response, `{"success":true,"job_id":%q}`, id)
	}))
}

type waiting struct {
	push   job.Push
	answer chan<- result
}

type result struct {
	id  string
	err error
}

// Gathered adds together what has come while the batch before was under way: what a careful user of a batch insert would
// write.
func Gathered(addMany AddMany) Add {
	arrived := make(chan waiting, batchMax)
	go func() {
		for first := range arrived {
			batch := append(make([]waiting, 0, batchMax), first)
			for isEmpty := false; !isEmpty && len(batch) < batchMax; {
				select {
				case next := <-arrived:
					batch = append(batch, next)
				default:
					isEmpty = true
				}
			}
			flush(addMany, batch)
		}
	}()
	return func(_ context.Context, push job.Push) (string, error) {
		answer := make(chan result, 1)
		arrived <- waiting{push, answer}
		stored := <-answer
		return stored.id, stored.err
	}
}

func flush(addMany AddMany, batch []waiting) {
	pushes := make([]job.Push, len(batch))
	for i, one := range batch {
		pushes[i] = one.push
	}
	ids, err := addMany(context.Background(), pushes)
	for i, one := range batch {
		if err != nil {
			one.answer <- result{err: err}
		} else {
			one.answer <- result{id: ids[i]}
		}
	}
}
