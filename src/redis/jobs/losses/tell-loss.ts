import { lossFacts } from '../../../domain/alerts/alert-message.ts'
import { LEASE_MS, STORE_DEADLINE_MS } from '../../../domain/limits.ts'
import { ALERT_TEAM, alertTeam } from '../../ledger/alerts/alert-teams.ts'
import { countRaised } from '../../ledger/alerts/raised.ts'
import type { Engine } from '../../base/engine/engine.ts'
import { step } from '../../base/engine/step.ts'
import { encodeAlertFacts } from '../../base/layout/alert-record.ts'
import { queueIdOf, splitNameField, type ShardKeys } from '../../base/layout/keys.ts'
import type { LostJobs } from './accepted-rows.ts'
import type { LostSteps } from './accepted-steps.ts'

/** A mark expires when its intake has done nothing for a week: it is of a process that is gone. */
export const INTAKE_MARK_SECONDS = 7 * 86_400
/** The record of a queue says for a day that jobs were lost. */
export const LOSS_NOTED_MS = 86_400_000
/** One step tells of at most this many queues. */
const QUEUES_MAX = 64

export const TELL_LOSS = step('tell_loss', import.meta.url, {
  keys: ['clock', 'executors', 'intakeMark'],
  args: ['leaseMs', 'answered', 'lost', 'page', 'isLast', 'markSeconds', 'notedMs'],
  rows: {
    teams: ALERT_TEAM,
    queues: {
      queueKeys: ['meta'],
      args: ['teamIndex', 'field', 'count', 'fromMs', 'toMs', 'resourceId', 'facts', 'teamFacts'],
    },
  },
})

interface Telling {
  readonly intake: string
  readonly answered: number
  readonly lost: LostSteps
  readonly queues: readonly LostJobs[]
}

/**
 * Tells the teams of what was lost in a shard, once.
 *
 * @returns `told`; `nothing` when this Redis has lost nothing, as the one that was asked before was another, or it was told
 *   before; or the lost steps, if they are others by now
 */
export async function tellLoss(
  engine: Engine,
  keys: ShardKeys,
  { intake, answered, lost, queues }: Telling,
): Promise<LostSteps | 'told' | 'nothing'> {
  const pages = Math.max(1, Math.ceil(queues.length / QUEUES_MAX))
  let isTold = false
  for (let page = 1; page <= pages; page += 1) {
    const told = queues.slice((page - 1) * QUEUES_MAX, page * QUEUES_MAX)
    const teams = [...new Set(told.map(({ field }) => splitNameField(field).team))]
    const call = TELL_LOSS.with({
      keys,
      intakeMark: keys.intakeMark(intake),
      leaseMs: LEASE_MS,
      answered,
      lost: `${lost.from} ${lost.to}`,
      page,
      isLast: page === pages ? 1 : 0,
      markSeconds: INTAKE_MARK_SECONDS,
      notedMs: LOSS_NOTED_MS,
      teams: teams.map((team) => alertTeam(keys, team, engine.shards.length)),
      queues: told.map((queue) => rowOf(engine, keys, queue, teams)),
    })
    const reply = (await engine.runner.run(call, STORE_DEADLINE_MS)) as string
    if (reply.startsWith('other ')) {
      const [from, to] = reply.split(' ').slice(1).map(Number)
      return { from: from ?? 0, to: to ?? 0 }
    }
    if (reply === '') continue
    isTold = true
    countRaised(engine.metrics, reply.slice('told '.length))
  }
  return isTold ? 'told' : 'nothing'
}

function rowOf(engine: Engine, keys: ShardKeys, queue: LostJobs, teams: readonly string[]) {
  const { field, localId, count, fromMs, toMs } = queue
  const { team, queue: name } = splitNameField(field)
  return {
    localId,
    teamIndex: teams.indexOf(team) + 1,
    field,
    count,
    fromMs,
    toMs,
    resourceId: queueIdOf(localId, keys.shard, engine.shards.length),
    facts: encodeAlertFacts(name, lossFacts(name, fromMs, toMs)),
    teamFacts: encodeAlertFacts(team, lossFacts(name, fromMs, toMs)),
  }
}
