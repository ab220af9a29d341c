import { StoreUnavailableError } from '../../../domain/errors.ts'
import { CRON_RECORDS_MAX, CRONS_PER_SHARD_MAX, STORE_DEADLINE_MS } from '../../../domain/limits.ts'
import type { Engine } from '../../base/engine/engine.ts'
import { orWhenFull } from '../../base/client/faults.ts'
import { step, type StepCall } from '../../base/engine/step.ts'
import { decodeState } from '../../base/layout/cron-record.ts'
import { nameField, NO_QUEUE, QUEUE_KEY_NAMES, type ShardKeys } from '../../base/layout/keys.ts'
import { shardsText } from '../cron-shards.ts'

export const RESERVE_CRON = step('reserve_cron', import.meta.url, {
  keys: ['cronIds', 'queueNumber', 'leaderEpoch', 'cronShards', 'cronStates', 'teamCrons'],
  queueKeys: ['meta'],
  args: ['field', 'highestId', 'cronsMax', 'epoch', 'shards', 'shard', 'formerLocalId'],
})

export const PLACE_CRON = step('place_cron', import.meta.url, {
  keys: ['cronIds', 'cronShards', 'leaderEpoch'],
  args: ['field', 'cronId', 'epoch', 'fromShards', 'toShards'],
})

export const RETIRE_CRON = step('retire_cron', import.meta.url, {
  keys: ['cronsDue', 'cronStates', 'leaderEpoch'],
  args: ['cronId', 'epoch'],
})

export const DROP_CRON = step('drop_cron', import.meta.url, {
  keys: ['cronsDue', 'cronDefinitions', 'cronStates', 'cronRecords', 'cronAlerts', 'leaderEpoch'],
  args: ['cronId', 'epoch'],
})

export const REMOVE_CRON = step('remove_cron', import.meta.url, {
  keys: [
    'cronIds',
    'cronShards',
    'cronsDue',
    'cronDefinitions',
    'cronStates',
    'cronRecords',
    'ring',
    'retentionDue',
    'oldestCalls',
    'settings',
    'settingsUses',
    'shardUsage',
    'issuesDue',
    'leaderEpoch',
    'teamCrons',
    'teamUsage',
    'limitWarnings',
    'cronAlerts',
    'sealedHistories',
  ],
  queueKeys: QUEUE_KEY_NAMES,
  args: ['field', 'cronId', 'localId', 'epoch'],
})

/** A cron, and the shard that gave it its id. */
export interface HomedCron {
  readonly cronId: number
  readonly home: ShardKeys
  readonly team: string
  readonly name: string
}

/** The data that a cron takes along from the shard that it leaves. */
export interface BroughtCron {
  readonly state: string
  /** The cron's standing alert; see lib/cron.lua. */
  readonly said: string
  readonly version: number
  readonly definition: string
  readonly records: readonly string[]
}

export const NOTHING_BROUGHT: BroughtCron = { state: '', said: '', version: 0, definition: '', records: [] }

/** The steps that change crons under one leader epoch, but for `set_cron`. Throws StoreUnavailableError. */
export class CronSteps {
  readonly #engine: Engine
  readonly #epoch: number | ''
  /** Highest id by shard: no local id is given twice, not even by a shard that lost its counter. */
  readonly #highestIds = new Map<number, number>()

  /** @param epoch of the leader; null = there is no leader */
  constructor(engine: Engine, epoch: number | null) {
    this.#engine = engine
    this.#epoch = epoch ?? ''
  }

  /** @param formerId the id it had before its data was lost */
  async reserve(
    home: ShardKeys,
    { team, name, formerId }: { team: string; name: string; formerId: number | null },
  ): Promise<number | 'superseded'> {
    const { runner, shards } = this.#engine
    const isOfHome = formerId !== null && formerId % shards.length === home.shard
    const formerLocalId = isOfHome ? String(Math.floor(formerId / shards.length)) : ''
    const field = nameField(team, name)
    const highestId = this.#highestIds.get(home.shard) ?? 0
    const call = RESERVE_CRON.with({
      keys: home,
      field,
      highestId,
      formerLocalId,
      epoch: this.#epoch,
      localId: formerLocalId === '' ? NO_QUEUE : formerLocalId,
      teamCrons: home.teamCrons(team),
      cronsMax: CRONS_PER_SHARD_MAX,
      shards: shards.length,
      shard: home.shard,
    })
    const reply = await orWhenFull(runner.run(call, STORE_DEADLINE_MS), () =>
      runner.read((redis) => redis.hget(home.cronIds, field)),
    )
    if (reply === '') throw new StoreUnavailableError('The cron limit of this shard is reached')
    if (reply === 'superseded') return reply
    const cronId = Number(reply)
    this.#highestIds.set(home.shard, Math.max(highestId, Math.floor(cronId / shards.length)))
    return cronId
  }

  /** `stale_id`: the name has another id by now. `conflict`: other shards are noted than `from`. */
  place(
    { cronId, home, team, name }: HomedCron,
    { from, to }: { readonly from: readonly ShardKeys[]; readonly to: readonly ShardKeys[] },
  ): Promise<'placed' | 'conflict' | 'stale_id' | 'superseded'> {
    return this.#run(
      PLACE_CRON.with({
        keys: home,
        field: nameField(team, name),
        cronId,
        epoch: this.#epoch,
        fromShards: shardsText(home, from),
        toShards: shardsText(home, to),
      }),
    )
  }

  async retire(keys: ShardKeys, cronId: number): Promise<BroughtCron | 'superseded'> {
    const id = String(cronId)
    const state = await this.#run<string>(RETIRE_CRON.with({ keys, cronId, epoch: this.#epoch }))
    if (state === 'superseded') return state
    if (state === '') return NOTHING_BROUGHT
    const [said, definition, records] = await this.#engine.runner.read((redis) =>
      Promise.all([
        redis.hget(keys.cronAlerts, id),
        redis.hget(keys.cronDefinitions, id),
        redis.lrange(keys.cronRecords(id), 0, CRON_RECORDS_MAX - 1),
      ]),
    )
    const { version } = decodeState(state)
    return { state, said: said ?? '', version, definition: definition ?? '', records }
  }

  drop(keys: ShardKeys, cronId: number): Promise<'dropped' | 'superseded'> {
    const cronRecords = keys.cronRecords(String(cronId))
    return this.#run(DROP_CRON.with({ keys, cronRecords, cronId, epoch: this.#epoch }))
  }

  remove({ cronId, home, team, name }: HomedCron): Promise<'removed' | 'stale_id' | 'superseded'> {
    return this.#run(
      REMOVE_CRON.with({
        keys: home,
        field: nameField(team, name),
        cronId,
        epoch: this.#epoch,
        localId: String(Math.floor(cronId / this.#engine.shards.length)),
        cronRecords: home.cronRecords(String(cronId)),
        teamCrons: home.teamCrons(team),
      }),
    )
  }

  #run<Reply>(call: StepCall): Promise<Reply> {
    return this.#engine.runner.run(call, STORE_DEADLINE_MS) as Promise<Reply>
  }
}
