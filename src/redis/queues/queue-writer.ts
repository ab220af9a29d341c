import { StoreUnavailableError } from '../../domain/errors.ts'
import { STORE_DEADLINE_MS } from '../../domain/limits.ts'
import type { QueueSettings } from '../../domain/jobs/queue-settings.ts'
import type { KnownQueue } from '../chains/known-queue.ts'
import { hintWake, shardOfQueue, type Engine } from '../client/engine.ts'
import { encodeSettings } from '../layout/job-record.ts'
import { nameField, queueIdOf, type ShardKeys } from '../layout/keys.ts'
import { QueueNames } from '../names/queue-names.ts'
import { queueNamed } from '../names/team-names.ts'

/** A queue deleted and made again meanwhile is resolved anew this often. */
const APPLY_TRIES_MAX = 4

/** Makes, changes and removes queues. Throws StoreUnavailableError. */
export interface QueueWriter {
  apply(
    team: string,
    name: string,
    settings: QueueSettings,
  ): Promise<{ readonly status: 'applied'; readonly queueId: number } | { readonly status: 'superseded' }>
  remove(team: string, name: string): Promise<'removed' | 'not_found' | 'superseded'>
}

export interface QueueWriterOptions {
  /** The leader's epoch; null = there is no leader. */
  readonly epoch: number | null
  /** Whether a resource says so, or an edit past any resource. A resource takes over a queue that a push has made. */
  readonly isCompiled: boolean
}

export function createQueueWriter(engine: Engine, options: QueueWriterOptions): QueueWriter {
  const names = new QueueNames(engine, options.epoch)
  return {
    apply: async (team, name, settings) => {
      const keys = shardOfQueue(engine, team, name)
      const field = nameField(team, name)
      for (let tries = 0; tries < APPLY_TRIES_MAX; tries += 1) {
        const found = await names.resolve(keys, field, STORE_DEADLINE_MS)
        if (found === 'full' || found === 'quota') {
          throw new StoreUnavailableError('The queue limit of this shard is reached')
        }
        if (found === 'superseded') return { status: 'superseded' }
        const { localId } = found
        const answer = await setQueue(engine, options, { keys, field, localId, settings })
        if (answer === 'superseded') return { status: 'superseded' }
        if (answer === 'moved') {
          names.forget(field)
          continue
        }
        if (answer === 1) hintWake(engine, keys.shard)
        return { status: 'applied', queueId: queueIdOf(localId, keys.shard, engine.shards.length) }
      }
      throw new StoreUnavailableError('The queue is being deleted and created again')
    },
    remove: async (team, name) => {
      const queue = await queueNamed(engine, team, name)
      if (queue === null) return 'not_found'
      const answer = await deleteQueue(engine, options, queue)
      if (answer === 'superseded') return 'superseded'
      return answer === 'deleted' ? 'removed' : 'not_found'
    },
  }
}

function setQueue(
  engine: Engine,
  { epoch, isCompiled }: QueueWriterOptions,
  queue: { keys: ShardKeys; field: string; localId: string; settings: QueueSettings },
): Promise<unknown> {
  const { keys, field, localId, settings } = queue
  const k = keys.queue(localId)
  const { hash, json } = encodeSettings(settings)
  return engine.runner.run(
    {
      name: 'set_queue',
      keys: [
        ...[keys.queueIds, keys.ring, keys.settings, keys.settingsUses, k.meta, k.ready, k.inFlight],
        ...[keys.pushedBuckets, keys.pushedBucket(localId), keys.leaderEpoch, keys.teams, keys.teamNumbers],
      ],
      args: [
        ...[field, localId, hash, settings.timeoutSeconds, settings.maxParallelism ?? ''],
        ...[
          settings.isActive ? 1 : 0,
          settings.strictParallelism ? 1 : 0,
          json,
          isCompiled ? 1 : 0,
          epoch ?? '',
        ],
      ],
    },
    STORE_DEADLINE_MS,
  )
}

function deleteQueue(
  engine: Engine,
  { epoch }: QueueWriterOptions,
  { keys, localId, team, name }: KnownQueue,
): Promise<unknown> {
  const k = keys.queue(localId)
  return engine.runner.run({
    name: 'delete_queue',
    keys: [
      ...[
        keys.queueIds,
        keys.ring,
        keys.retentionDue,
        keys.oldestCalls,
        keys.settings,
        keys.settingsUses,
        keys.shardUsage,
      ],
      ...[
        k.meta,
        k.ready,
        k.inFlight,
        k.deadLetters,
        k.history,
        k.callRecords,
        k.failedCalls,
        k.successfulCalls,
        k.records,
        k.summaries,
        k.deadLetterRecords,
        k.payloads,
      ],
      ...[k.trashedRecords, k.trashedSummaries, k.trashedDeadLetterRecords, k.trashedPayloads],
      ...[
        keys.pushedBuckets,
        keys.pushedBucket(localId),
        keys.leaderEpoch,
        keys.teamQueues(team),
        keys.teamUsage,
      ],
    ],
    args: [nameField(team, name), localId, epoch ?? ''],
  })
}
