import { DEFAULT_QUEUE_SETTINGS, type QueueSettings } from '../../../src/domain/jobs/queue-settings.ts'
import type { StepRunner } from '../../../src/redis/base/engine/step-runner.ts'
import { encodeSettings } from '../../../src/redis/base/layout/queue-record.ts'

const DEFAULT_HASH = encodeSettings(DEFAULT_QUEUE_SETTINGS).hash

/**
 * Gives queues that a push or a cron's run makes other settings than the default ones, so that stories can have short
 * retries. Such a queue is active and has no limit whatever the settings say.
 */
export function withNewQueues(runner: StepRunner, settingsOf: () => QueueSettings): StepRunner {
  return {
    run: (call, resendForMs) => {
      const { name, args } = call
      const at = name === 'enqueue' || name === 'tick' ? args.indexOf(DEFAULT_HASH) : -1
      if (at === -1) return runner.run(call, resendForMs)
      const settings = settingsOf()
      const { hash, json } = encodeSettings(settings)
      const changed = args.toSpliced(at, 3, hash, settings.timeoutSeconds, json)
      return runner.run({ ...call, args: changed }, resendForMs)
    },
    read: (reads, readAnewForMs) => runner.read(reads, readAnewForMs),
    redisNowMs: (shard) => runner.redisNowMs(shard),
    noteRedisTime: (shard, redisMs) => runner.noteRedisTime(shard, redisMs),
  }
}
