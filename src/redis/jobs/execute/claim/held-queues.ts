import { HELD_ENTRIES_MAX } from '../../../../domain/limits.ts'
import { LruCache } from '../../../../domain/lru-cache.ts'
import { heldResources } from '../../../../domain/windows/held-resources.ts'
import type { WindowResource } from '../../../../domain/windows/maintenance-window.ts'
import type { Hold, WindowSource } from '../../../../ports/windows.ts'
import type { Engine } from '../../../base/engine/engine.ts'
import { definitionIn } from '../../../base/layout/cron-record.ts'
import { QUEUE } from '../../../base/layout/fields.ts'
import {
  callbackQueueOf,
  isCallbackQueue,
  splitNameField,
  type ShardKeys,
} from '../../../base/layout/keys.ts'
import { LAST_TEAM } from '../../../base/layout/ring-bands.ts'

/** At most this many queues have their names remembered. A local id is never given to another queue. */
const NAMES_CACHED_MAX = 10_000

/** What a window would have to name to hold a queue: the queue itself, or the cron whose hidden queue it is. */
interface NamedQueue {
  readonly team: string
  readonly resource: WindowResource | null
}

export interface AskedQueues {
  readonly askedTeams: ReadonlyArray<{
    readonly number: string | number
    readonly queueCount: string | number
  }>
  readonly queues: readonly string[]
}

/**
 * Knows which queues of a shard maintenance windows hold. A claim leaves these out of the queues that it asks, which is
 * what holds them; it also lists them, so that the step names others to be asked next. The lists are bounded and may be
 * incomplete; then it only takes longer to find the others. Callbacks are never held, as they tell of jobs that ran
 * before.
 */
export class HeldQueues {
  readonly #engine: Engine
  readonly #keys: ShardKeys
  readonly #windows: WindowSource
  readonly #names = new LruCache<string, NamedQueue>(NAMES_CACHED_MAX)
  /** The holds from which the lists below were made. */
  #holds: readonly Hold[] = []
  /** Held teams by number. Those that share the last number are held queue by queue. */
  #teams = new Map<string, NamedQueue>()
  #queues = new Map<string, NamedQueue & { readonly number: string }>()

  constructor(engine: Engine, keys: ShardKeys, windows: WindowSource) {
    this.#engine = engine
    this.#keys = keys
    this.#windows = windows
  }

  /** true = nothing is held now. */
  get isEmpty(): boolean {
    return this.#update().length === 0
  }

  /** Makes the lists for the next claim. */
  listed() {
    this.#update()
    return {
      heldTeams: Array.from(this.#teams.keys(), (number) => ({
        number,
        callbackQueue: callbackQueueOf(number),
      })),
      heldQueues: Array.from(this.#queues, ([localId, { number }]) => ({ number, localId })),
    }
  }

  /** Leaves out the queues that are held. `learnt` = the lists have grown. Throws StoreUnavailableError. */
  async without(asked: AskedQueues): Promise<AskedQueues & { readonly learnt: boolean }> {
    const held = await this.among(asked.queues)
    const before = this.#teams.size + this.#queues.size
    const left = { askedTeams: [] as Array<AskedQueues['askedTeams'][number]>, queues: [] as string[] }
    let at = 0
    for (const { number, queueCount } of asked.askedTeams) {
      const ofTeam = asked.queues.slice(at, (at += Number(queueCount)))
      const startable = ofTeam.filter((localId) => !held.has(localId))
      for (const localId of ofTeam) if (held.has(localId)) this.#note(String(number), localId)
      if (startable.length === 0) continue
      left.askedTeams.push({ number, queueCount: startable.length })
      left.queues.push(...startable)
    }
    return { ...left, learnt: this.#teams.size + this.#queues.size > before }
  }

  /** Finds the queues that are held among these. Throws StoreUnavailableError. */
  async among(localIds: readonly string[]): Promise<ReadonlySet<string>> {
    if (this.isEmpty) return new Set()
    await this.#learnNames(localIds.filter((id) => !isCallbackQueue(id) && this.#names.get(id) === undefined))
    // Reading took time, so a window may have opened or closed meanwhile.
    const index = heldResources(this.#update())
    return new Set(
      localIds.filter((id) => {
        const queue = this.#names.get(id)
        return queue !== undefined && index.untilOf(queue.team, queue.resource) !== null
      }),
    )
  }

  /** Answers the holds that are in force, and keeps in the lists only what these hold. */
  #update(): readonly Hold[] {
    const holds = this.#windows.holds(this.#engine.runner.redisNowMs(this.#keys.shard))
    if (holds === this.#holds || (holds.length === 0 && this.#holds.length === 0)) return holds
    this.#holds = holds
    if (holds.length === 0) this.#names.clear()
    const index = heldResources(holds)
    const isHeld = ({ team, resource }: NamedQueue) => index.untilOf(team, resource) !== null
    this.#teams = new Map([...this.#teams].filter(([, team]) => isHeld(team)))
    this.#queues = new Map([...this.#queues].filter(([, queue]) => isHeld(queue)))
    return holds
  }

  #note(number: string, localId: string): void {
    const queue = this.#names.get(localId)
    if (queue === undefined) return
    const ofTeam = { team: queue.team, resource: null }
    const isTeamHeld = heldResources(this.#holds).untilOf(queue.team, null) !== null
    if (isTeamHeld && number !== LAST_TEAM) {
      if (this.#teams.size < HELD_ENTRIES_MAX) this.#teams.set(number, ofTeam)
    } else if (this.#queues.size < HELD_ENTRIES_MAX) this.#queues.set(localId, { ...queue, number })
  }

  /** A queue without a name was deleted, and the claim drops it. */
  async #learnNames(localIds: readonly string[]): Promise<void> {
    if (localIds.length === 0) return
    const { runner } = this.#engine
    const metas = await runner.read((redis) =>
      Promise.all(
        localIds.map((id) => redis.hmget(this.#keys.queueKey('meta', id), QUEUE.name, QUEUE.cronId)),
      ),
    )
    const crons = metas.flatMap(([, cronId]) => cronId ?? [])
    const definitions = new Map<string, string | null>()
    if (crons.length > 0) {
      const texts = await runner.read((redis) => redis.hmget(this.#keys.cronDefinitions, ...crons))
      crons.forEach((cronId, i) => definitions.set(cronId, texts[i] ?? null))
    }
    localIds.forEach((id, i) => {
      const [name, cronId] = metas[i] ?? []
      const text = cronId === null || cronId === undefined ? null : (definitions.get(cronId) ?? null)
      const named = name === null || name === undefined ? null : namedQueue(name, text)
      if (named !== null) this.#names.set(id, named)
    })
  }
}

/** null = it cannot be read. It then counts as not held, because the claim asks for queues of all teams. */
function namedQueue(name: string, definition: string | null): NamedQueue | null {
  try {
    const { team, queue } = splitNameField(name)
    return { team, resource: queue === '' ? cronIn(definition) : { kind: 'queue', name: queue } }
  } catch {
    return null
  }
}

/** null = the cron is gone or cannot be read, so that only its team can hold the runs that it left. */
function cronIn(definition: string | null): WindowResource | null {
  try {
    const defined = definition === null ? null : definitionIn(definition, true)
    return defined === null ? null : { kind: 'cron', name: defined.name }
  } catch {
    // A throw would stop the claim, which asks for queues of all teams.
    return null
  }
}
