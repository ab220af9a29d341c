// River behind the least API, and its worker. The database comes from PGHOST, PGPORT, PGUSER and PGDATABASE.
package main

import (
	"context"
	"fmt"
	"log/slog"
	"strconv"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"
	"github.com/riverqueue/river"
	"github.com/riverqueue/river/riverdriver/riverpgxv5"
	"github.com/riverqueue/river/rivermigrate"

	"punctual/bench/peers/intake"
	"punctual/bench/peers/job"
)

const (
	queue = "bench"
	// Its own benchmark has these: jobs are fetched this often at most, and looked for this often without a notification.
	fetchCooldown = 2 * time.Millisecond
	fetchPoll     = 20 * time.Millisecond
	connections   = 10
)

type callArgs struct {
	job.Push
}

func (callArgs) Kind() string { return "call" }

type callWorker struct {
	river.WorkerDefaults[callArgs]
	caller *job.Caller
}

func (w *callWorker) Work(ctx context.Context, task *river.Job[callArgs]) error {
	return w.caller.Call(ctx, task.Args.Push)
}

func main() {
	role, options := job.ReadOptions()
	ctx := context.Background()
	pool, err := openPool(ctx)
	if err == nil && role == "api" {
		err = takeIn(ctx, pool, options)
	} else if err == nil {
		err = work(ctx, pool, options)
	}
	if err != nil {
		job.Fail(err)
	}
}

func openPool(ctx context.Context) (*pgxpool.Pool, error) {
	config, err := pgxpool.ParseConfig("")
	if err != nil {
		return nil, err
	}
	config.MaxConns = connections
	pool, err := pgxpool.NewWithConfig(ctx, config)
	if err != nil {
		return nil, err
	}
	migrator, err := rivermigrate.New(riverpgxv5.New(pool), &rivermigrate.Config{Logger: quiet()})
	if err != nil {
		return nil, err
	}
	_, err = migrator.Migrate(ctx, rivermigrate.DirectionUp, nil)
	return pool, err
}

func takeIn(ctx context.Context, pool *pgxpool.Pool, options job.Options) error {
	client, err := river.NewClient(riverpgxv5.New(pool), &river.Config{Logger: quiet()})
	if err != nil {
		return err
	}
	return intake.Serve(options.Port, intake.Gathered(func(ctx context.Context, pushes []job.Push) ([]string, error) {
		return insert(ctx, client, pushes)
	}))
}

func insert(ctx context.Context, client *river.Client[pgx.Tx], pushes []job.Push) ([]string, error) {
	params := make([]river.InsertManyParams, len(pushes))
	for i, push := range pushes {
		dueAt, err := push.DueAt()
		if err != nil {
			return nil, err
		}
		params[i] = river.InsertManyParams{
			Args:       callArgs{push},
			InsertOpts: &river.InsertOpts{Queue: queue, ScheduledAt: dueAt},
		}
	}
	inserted, err := client.InsertMany(ctx, params)
	if err != nil {
		return nil, err
	}
	ids := make([]string, len(inserted))
	for i, one := range inserted {
		ids[i] = strconv.FormatInt(one.Job.ID, 10)
	}
	return ids, nil
}

func work(ctx context.Context, pool *pgxpool.Pool, options job.Options) error {
	workers := river.NewWorkers()
	if err := river.AddWorkerSafely(workers, &callWorker{caller: job.NewCaller(options.Concurrency)}); err != nil {
		return err
	}
	client, err := river.NewClient(riverpgxv5.New(pool), &river.Config{
		FetchCooldown:     fetchCooldown,
		FetchPollInterval: fetchPoll,
		Logger:            quiet(),
		Queues:            map[string]river.QueueConfig{queue: {MaxWorkers: options.Concurrency}},
		Workers:           workers,
	})
	if err != nil {
		return err
	}
	if err := client.Start(ctx); err != nil {
		return fmt.Errorf("river did not start: %w", err)
	}
	job.Ready()
	// Until the harness ends it.
	select {}
}

func quiet() *slog.Logger {
	return slog.New(slog.DiscardHandler)
}
