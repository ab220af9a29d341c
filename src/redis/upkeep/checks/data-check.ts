import { excerpt } from '../../../domain/excerpt.ts'
import type { CheckResult, HealthFinding } from '../../../ports/health.ts'
import type { Clock } from '../../../ports/runtime.ts'
import type { Finding } from '../inspection/inspect.ts'
import { inspectLive, type InspectionProgress } from '../inspection/live-inspection.ts'
import type { Engine } from '../../base/engine/engine.ts'
import { QUEUE } from '../../base/layout/fields.ts'
import { shardPrefix, splitNameField } from '../../base/layout/keys.ts'
import { counted } from './counted.ts'

/** Findings beyond these are counted alone: one lost write may spoil many places. */
const NAMED_MAX = 1_000
const MESSAGE_CHARACTERS_MAX = 300

/** Inspects every key of every shard while the installation works. */
export async function checkData(
  engine: Engine,
  options: { readonly clock: Clock; readonly onProgress: (progress: InspectionProgress) => void },
): Promise<CheckResult> {
  const { findings, queues, uncounted } = await inspectLive(engine, options)
  const named: HealthFinding[] = []
  for (const finding of findings.slice(0, NAMED_MAX)) named.push(await describe(engine, finding))
  const left = findings.length - named.length
  if (left > 0) {
    const message = `${left} more findings are left out.`
    named.push({
      severity: 'failed',
      subject: 'inspection',
      message,
      advice: 'Fix the first ones, then run the doctor again.',
    })
  }
  const busy =
    uncounted.length === 0
      ? ''
      : `; counters of shard ${uncounted.join(', ')} not compared, as jobs came and went at every look`
  return {
    summary: `${counted(queues, 'queue')} in ${counted(engine.shards.length, 'shard')}${busy}`,
    findings: named,
  }
}

async function describe(engine: Engine, { key, message }: Finding): Promise<HealthFinding> {
  const { shard, kind, id } = partsOf(engine, key)
  const queue =
    id === null
      ? null
      : await engine.runner.read((redis) => redis.hget(`${shardPrefix(shard)}q:${id}`, QUEUE.name))
  const name = queue === null ? '' : ` (queue ${queueText(queue)})`
  const bare = excerpt(message, MESSAGE_CHARACTERS_MAX)
  return {
    severity: 'failed',
    subject: `${key}${name}`,
    message: `It ${bare}.`,
    advice: ADVICE[kind] ?? ADVICE_FOR_OTHERS,
  }
}

function queueText(name: string): string {
  const { team, queue } = splitNameField(name)
  return queue === '' ? `for callbacks of team ${team}` : `${queue} of team ${team}`
}

/** Splits `punctual:{tag}:b:5` into the shard, `b`, and the queue's id. */
function partsOf(engine: Engine, key: string): { shard: number; kind: string; id: string | null } {
  const shard = engine.shards.findIndex((_, at) => key.startsWith(shardPrefix(at)))
  if (shard === -1) return { shard, kind: '', id: null }
  const [kind = '', id] = key.slice(shardPrefix(shard).length).split(':')
  return { shard, kind, id: QUEUE_KINDS.has(kind) && id !== undefined ? id : null }
}

const QUEUE_KINDS: ReadonlySet<string> = new Set([
  'q',
  'r',
  'b',
  'a',
  'p',
  'x',
  'xb',
  'h',
  'd',
  'c',
  'cf',
  'co',
])

const MENDED_BY_EXECUTORS =
  'Executors look at a few queues a minute and mend this; pausing and resuming the queue mends it at once.'
const COUNTER =
  'Jobs still run. The counter stays wrong until somebody corrects it; quotas that use it are off by the same amount.'
const FREED_LATER =
  'Executors free a slot at the hard deadline of its job, 30 s after its timeout. If it stays, no executor looks after this shard.'

/** Advice by the kind of key. */
const ADVICE: Readonly<Record<string, string>> = {
  ring: MENDED_BY_EXECUTORS,
  teams: MENDED_BY_EXECUTORS,
  a: FREED_LATER,
  in: FREED_LATER,
  use: COUNTER,
  tu: COUNTER,
  setn: COUNTER,
}
const ADVICE_FOR_OTHERS =
  'Something other than Punctual changed Redis, or Redis lost writes. Keep a copy of the data, then delete or replay the jobs it names; see docs/reference/doctor.md.'
