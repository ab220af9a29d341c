import { pause } from '../../../domain/pause.ts'
import type { Clock } from '../../../ports/runtime.ts'
import { shardKeys, type Engine } from '../../base/engine/engine.ts'
import { listKeys, passOverShard, type Finding, type ShardPass } from './inspect.ts'
import { createShardKeyList } from './inspect-facts.ts'
import { readHash } from '../../base/engine/paged-reads.ts'

/** A finding must be there at each of these passes. */
const PASSES = 3
/** Pause between two passes; far longer than any step takes. */
const SETTLE_MS = 2_000
/** A timer is too coarse for shorter rests. */
const REST_MS_MIN = 10
/** Index of keys that belong to no shard. */
const STRAYS = -1

export interface InspectionProgress {
  readonly pass: number
  readonly shard: number
  readonly queuesDone: number
  readonly queues: number
}

export interface LiveInspection {
  readonly findings: readonly Finding[]
  readonly queues: number
  /** Shards in which jobs came and went at every pass: their counters could not be compared with a count. */
  readonly uncounted: readonly number[]
}

/** Findings that all passes over a shard agree on so far. */
interface Verdict {
  readonly standing: readonly Finding[]
  /** Miscounts of a pass during which nothing changed. */
  readonly miscounts: readonly Finding[]
  readonly isCounted: boolean
}

/**
 * Inspects an installation while it works. A step may run between two reads of a pass, so one pass proves nothing: what
 * is out of place must be so at every pass, and a counter must differ from the count during a pass in which nothing in
 * its shard changed. Pauses take half of the time, so that Redis stays free. Throws StoreUnavailableError.
 */
export async function inspectLive(
  engine: Engine,
  {
    clock,
    onProgress,
  }: { readonly clock: Clock; readonly onProgress: (progress: InspectionProgress) => void },
): Promise<LiveInspection> {
  const paced = pacedEngine(engine, clock)
  const verdicts = new Map<number, Verdict>()
  let queues = 0
  for (let pass = 1; pass <= PASSES; pass += 1) {
    const shards = [...engine.shards.keys()].filter((shard) => isOpen(verdicts.get(shard)))
    if (shards.length === 0 && !isOpen(verdicts.get(STRAYS))) break
    if (pass > 1) await pause(clock, SETTLE_MS)
    // Before the keys are listed: a queue made in between would be missing in the count.
    const before = new Map<number, string>()
    for (const shard of shards) before.set(shard, await countersOf(paced, shard))
    const { lists, strays } = await listKeys(paced)
    judge(verdicts, STRAYS, { findings: strays, miscounts: [], isStill: true })
    if (pass === 1) queues = lists.reduce((sum, list) => sum + list.queues.size, 0)
    for (const shard of shards) {
      const list = lists[shard] ?? createShardKeyList()
      let queuesDone = 0
      const advance = (): void => {
        queuesDone += 1
        onProgress({ pass, shard, queuesDone, queues: list.queues.size })
      }
      const found = await passOverShard(paced, { shard, list, advance })
      const isStill = before.get(shard) === (await countersOf(paced, shard))
      judge(verdicts, shard, { ...found, isStill })
    }
  }
  return {
    findings: [...verdicts.values()].flatMap(({ standing, miscounts }) => [...standing, ...miscounts]),
    queues,
    uncounted: [...verdicts].flatMap(([shard, { isCounted }]) => (isCounted ? [] : [shard])),
  }
}

/** Whether another pass can change the verdict. */
function isOpen(verdict: Verdict | undefined): boolean {
  return verdict === undefined || verdict.standing.length > 0 || !verdict.isCounted
}

function judge(
  verdicts: Map<number, Verdict>,
  shard: number,
  pass: ShardPass & { readonly isStill: boolean },
): void {
  const before = verdicts.get(shard)
  const seen = new Set(pass.findings.map(textOf))
  verdicts.set(shard, {
    standing: before?.standing.filter((finding) => seen.has(textOf(finding))) ?? pass.findings,
    miscounts: before?.isCounted === true ? before.miscounts : pass.isStill ? pass.miscounts : [],
    isCounted: before?.isCounted === true || pass.isStill || pass.miscounts.length === 0,
  })
}

function textOf({ key, message }: Finding): string {
  return `${key}\n${message}`
}

/** Every step that stores, claims or removes a job changes one of these. */
async function countersOf(engine: Engine, shard: number): Promise<string> {
  const { fencingToken, shardUsage, teamUsage, settingsUses } = shardKeys(engine, shard)
  const token = await engine.runner.read((redis) => redis.get(fencingToken))
  const hashes: Array<Array<[string, string]>> = []
  for (const key of [shardUsage, teamUsage, settingsUses]) {
    hashes.push([...(await readHash(engine, key))].toSorted(([a], [b]) => (a < b ? -1 : 1)))
  }
  return JSON.stringify([token, hashes])
}

/** Rests for as long as it has read. */
function pacedEngine(engine: Engine, clock: Clock): Engine {
  const { runner } = engine
  let owedMs = 0
  const paced = async <T>(read: () => Promise<T>): Promise<T> => {
    const startedAtMs = clock.monotonicMs()
    const answer = await read()
    owedMs += clock.monotonicMs() - startedAtMs
    if (owedMs >= REST_MS_MIN) {
      await pause(clock, owedMs)
      owedMs = 0
    }
    return answer
  }
  return {
    ...engine,
    runner: {
      run: (...step) => paced(() => runner.run(...step)),
      read: (reads) => paced(() => runner.read(reads)),
      redisNowMs: (shard) => runner.redisNowMs(shard),
      noteRedisTime: (shard, redisMs) => runner.noteRedisTime(shard, redisMs),
    },
  }
}
