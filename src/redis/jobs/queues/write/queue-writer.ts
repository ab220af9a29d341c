import { StoreUnavailableError } from '../../../../domain/errors.ts'
import { STORE_DEADLINE_MS } from '../../../../domain/limits.ts'
import type { QueueSettings } from '../../../../domain/jobs/queue-settings.ts'
import { hintWake, shardOfQueue, type Engine } from '../../../base/engine/engine.ts'
import { step } from '../../../base/engine/step.ts'
import { encodeSettings, encodeFlow } from '../../../base/layout/queue-record.ts'
import { nameField, QUEUE_KEY_NAMES, queueIdOf, type ShardKeys } from '../../../base/layout/keys.ts'
import { QueueNames } from '../../../base/names/queue-names.ts'
import { queueNamed } from '../../../base/names/team-names.ts'

export const SET_QUEUE = step('set_queue', import.meta.url, {
  keys: [
    'queueIds',
    'ring',
    'teams',
    'teamNumbers',
    'settings',
    'settingsUses',
    'pushedBuckets',
    'pushedBucket',
    'leaderEpoch',
    'sampledQueues',
    'nearSet',
  ],
  queueKeys: ['meta', 'ready', 'inFlight'],
  args: [
    'field',
    'localId',
    'settingsHash',
    'settingsJson',
    'timeoutSeconds',
    'maxParallel',
    'active',
    'draining',
    'strict',
    'flow',
    'compiled',
    'epoch',
  ],
})

export const DELETE_QUEUE = step('delete_queue', import.meta.url, {
  keys: [
    'queueIds',
    'ring',
    'retentionDue',
    'oldestCalls',
    'sampledQueues',
    'issuesDue',
    'settings',
    'settingsUses',
    'shardUsage',
    'limitWarnings',
    'teamUsage',
    'pushedBuckets',
    'pushedBucket',
    'leaderEpoch',
    'teamQueues',
    'sealedHistories',
    'nearSet',
  ],
  queueKeys: QUEUE_KEY_NAMES,
  args: ['field', 'localId', 'epoch'],
})

export const UNTHROTTLE = step('unthrottle', import.meta.url, {
  keys: ['ring', 'teams', 'nearSet'],
  queueKeys: ['meta', 'ready', 'inFlight'],
  args: ['localId'],
})

/** A change is tried at most this many times for a queue that is deleted and made again at the same time. */
const APPLY_TRIES_MAX = 4

interface QueueWriterOptions {
  /** The leader's epoch; null = there is no leader. */
  readonly epoch: number | null
  /** true = the settings come from a resource, which takes over a queue that a push has made. */
  readonly isCompiled: boolean
}

/** Makes, changes and removes queues. Throws StoreUnavailableError. */
export class QueueWriter {
  readonly #engine: Engine
  readonly #options: QueueWriterOptions
  readonly #names: QueueNames

  constructor(engine: Engine, options: QueueWriterOptions) {
    this.#engine = engine
    this.#options = options
    this.#names = new QueueNames(engine, options.epoch)
  }

  async apply(
    team: string,
    name: string,
    settings: QueueSettings,
  ): Promise<{ readonly status: 'applied'; readonly queueId: number } | { readonly status: 'superseded' }> {
    const keys = shardOfQueue(this.#engine, team, name)
    const field = nameField(team, name)
    for (let tries = 0; tries < APPLY_TRIES_MAX; tries += 1) {
      const found = await this.#names.resolve(keys, field, STORE_DEADLINE_MS)
      if (found === 'full' || found === 'quota') {
        throw new StoreUnavailableError('The queue limit of this shard is reached')
      }
      if (found === 'superseded') return { status: found }
      const { localId } = found
      const answer = await this.#set(keys, { field, localId, settings })
      if (answer === 'superseded') return { status: answer }
      if (answer === 'stale_id') {
        this.#names.forget(field)
        continue
      }
      if (answer === 1) hintWake(this.#engine, keys.shard)
      return { status: 'applied', queueId: queueIdOf(localId, keys.shard, this.#engine.shards.length) }
    }
    throw new StoreUnavailableError('The queue is being deleted and created again')
  }

  #set(
    keys: ShardKeys,
    { field, localId, settings }: { field: string; localId: string; settings: QueueSettings },
  ): Promise<unknown> {
    const { hash, json } = encodeSettings(settings)
    const call = SET_QUEUE.with({
      keys,
      field,
      localId,
      settingsHash: hash,
      settingsJson: json,
      pushedBucket: keys.pushedBucket(localId),
      timeoutSeconds: settings.timeoutSeconds,
      maxParallel: settings.maxParallelism ?? '',
      active: settings.isActive ? 1 : 0,
      draining: settings.isDraining ? 1 : 0,
      strict: settings.strictParallelism ? 1 : 0,
      flow: encodeFlow(settings),
      compiled: this.#options.isCompiled ? 1 : 0,
      epoch: this.#options.epoch ?? '',
    })
    return this.#engine.runner.run(call, STORE_DEADLINE_MS)
  }

  async remove(team: string, name: string): Promise<'removed' | 'not_found' | 'superseded'> {
    const queue = await queueNamed(this.#engine, team, name)
    if (queue === null) return 'not_found'
    const { keys, localId } = queue
    const answer = await this.#engine.runner.run(
      DELETE_QUEUE.with({
        keys,
        localId,
        field: nameField(team, name),
        epoch: this.#options.epoch ?? '',
        pushedBucket: keys.pushedBucket(localId),
        teamQueues: keys.teamQueues(team),
      }),
    )
    if (answer === 'superseded') return answer
    return answer === 'deleted' ? 'removed' : 'not_found'
  }
}
