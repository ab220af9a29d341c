// asynq behind the least API, and its worker. It adds one task a request: it has no way to add several at once.
package main

import (
	"context"
	"encoding/json"
	"fmt"
	"time"

	"github.com/hibiken/asynq"

	"punctual/bench/peers/intake"
	"punctual/bench/peers/job"
)

const (
	queue    = "bench"
	taskType = "call"
	// pollInterval is how often tasks of later are looked for, and new ones while none are there: 5 s and 1 s without.
	pollInterval = 50 * time.Millisecond
	// apiConnections is as many as the load has.
	apiConnections = 64
)

func main() {
	role, options := job.ReadOptions()
	redis := asynq.RedisClientOpt{Addr: fmt.Sprintf("127.0.0.1:%d", options.RedisPort)}
	var err error
	if role == "api" {
		err = takeIn(redis, options)
	} else {
		err = work(redis, options)
	}
	if err != nil {
		job.Fail(err)
	}
}

func takeIn(redis asynq.RedisClientOpt, options job.Options) error {
	redis.PoolSize = apiConnections
	client := asynq.NewClient(redis)
	return intake.Serve(options.Port, func(ctx context.Context, push job.Push) (string, error) {
		dueAt, err := push.DueAt()
		if err != nil {
			return "", err
		}
		payload, err := json.Marshal(push)
		if err != nil {
			return "", err
		}
		choices := []asynq.Option{asynq.Queue(queue)}
		if !dueAt.IsZero() {
			choices = append(choices, asynq.ProcessAt(dueAt))
		}
		info, err := client.EnqueueContext(ctx, asynq.NewTask(taskType, payload), choices...)
		if err != nil {
			return "", err
		}
		return info.ID, nil
	})
}

func work(redis asynq.RedisClientOpt, options job.Options) error {
	redis.PoolSize = options.Concurrency
	caller := job.NewCaller(options.Concurrency)
	server := asynq.NewServer(redis, asynq.Config{
		Concurrency:              options.Concurrency,
		Queues:                   map[string]int{queue: 1},
		TaskCheckInterval:        pollInterval,
		DelayedTaskCheckInterval: pollInterval,
		LogLevel:                 asynq.FatalLevel,
	})
	err := server.Start(asynq.HandlerFunc(func(ctx context.Context, task *asynq.Task) error {
		var push job.Push
		if err := json.Unmarshal(task.Payload(), &push); err != nil {
			return err
		}
		return caller.Call(ctx, push)
	}))
	if err != nil {
		return err
	}
	job.Ready()
	// Until the harness ends it.
	select {}
}
