import type { LimitReason } from '../../../domain/alerts/alert.ts'
import type { AlertFacts } from '../../../domain/alerts/alert-message.ts'
import { LEASE_MS } from '../../../domain/limits.ts'
import { isOutage } from '../../../domain/errors.ts'
import type { SetAside } from '../../../domain/set-aside.ts'
import type { WindowSource } from '../../../ports/windows.ts'
import { ALERT_TEAM, alertTeam } from '../../ledger/alerts/alert-teams.ts'
import { countRaised } from '../../ledger/alerts/raised.ts'
import type { Engine } from '../../base/engine/engine.ts'
import { step } from '../../base/engine/step.ts'
import { encodeAlertFacts } from '../../base/layout/alert-record.ts'
import { NO_QUEUE, queueIdOf, type ShardKeys } from '../../base/layout/keys.ts'
import { warningField, type WarnedResource } from './standing-warnings.ts'

export const WARN = step('warn', import.meta.url, {
  keys: ['clock', 'executors', 'limitWarnings'],
  args: ['leaseMs'],
  rows: {
    teams: ALERT_TEAM,
    changes: {
      queueKeys: ['meta'],
      args: [
        'team',
        'field',
        'seen',
        'next',
        'isRaised',
        'reason',
        'kind',
        'resourceId',
        'suppressedBy',
        'facts',
      ],
    },
  },
})

/** One step makes at most this many changes. */
const CHANGES_MAX = 64

/** How the warnings of one reason and resource change. */
export interface WarningChange {
  /** '' = the queue is gone. */
  readonly team: string
  /** The name of the queue or of the team. */
  readonly name: string
  readonly resource: WarnedResource
  readonly reason: LimitReason
  /** The value of the field as it was read. Nothing changes when it is another by now. */
  readonly seen: string
  /** The new value; '' = no warning stands. */
  readonly next: string
  /** null = no alert is raised. */
  readonly facts: AlertFacts | null
  readonly suppressedBy: string | null
}

/**
 * Raises and clears warnings. Of several executors that saw the same, one does it. A change that cannot be written is
 * set aside.
 */
export async function warn(
  engine: Engine,
  keys: ShardKeys,
  { changes, setAside }: { readonly changes: readonly WarningChange[]; readonly setAside: SetAside },
): Promise<void> {
  for (let begin = 0; begin < changes.length; begin += CHANGES_MAX) {
    const page = changes.slice(begin, begin + CHANGES_MAX)
    try {
      await warnPage(engine, keys, page)
    } catch (error) {
      if (isOutage(error)) throw error
      await warnEach(engine, keys, { changes: page, setAside })
    }
  }
}

async function warnEach(
  engine: Engine,
  keys: ShardKeys,
  { changes, setAside }: { readonly changes: readonly WarningChange[]; readonly setAside: SetAside },
): Promise<void> {
  for (const change of changes) {
    try {
      await warnPage(engine, keys, [change])
    } catch (error) {
      if (isOutage(error)) throw error
      setAside.note({ team: change.team, name: change.name, reason: change.reason }, error)
    }
  }
}

async function warnPage(engine: Engine, keys: ShardKeys, page: readonly WarningChange[]): Promise<void> {
  const teams = [...new Set(page.map(({ team }) => team))]
  const raised = await engine.runner.run(
    WARN.with({
      keys,
      leaseMs: LEASE_MS,
      teams: teams.map((team) => alertTeam(keys, team, engine.shards.length)),
      changes: page.map((change) => rowOf(engine, keys, change, teams.indexOf(change.team) + 1)),
    }),
  )
  countRaised(engine.metrics, raised as string)
}

function rowOf(engine: Engine, keys: ShardKeys, change: WarningChange, team: number) {
  const { resource, name, reason, seen, next, facts, suppressedBy } = change
  const isQueue = resource.kind === 'queue'
  return {
    team,
    field: warningField(reason, resource),
    seen,
    next,
    reason,
    kind: resource.kind,
    localId: isQueue ? resource.localId : NO_QUEUE,
    isRaised: facts === null ? 0 : 1,
    resourceId: isQueue ? queueIdOf(resource.localId, keys.shard, engine.shards.length) : '',
    suppressedBy: suppressedBy ?? '',
    facts: encodeAlertFacts(name, facts ?? []),
  }
}

/** Finds the window that mutes the alerts of a queue, or of the team itself. */
export function muteOf(
  windows: WindowSource,
  { team, queue, nowMs }: { team: string; queue: string | null; nowMs: number },
): string | null {
  const mutes = windows.mutes(team, nowMs)
  if (mutes === null) return null
  return mutes.all ?? (queue === null ? null : (mutes.queues.get(queue) ?? null))
}
