import type { Status as WireStatus } from '../../../../clients/typescript/src/generated/wire.ts'
import type { QuotaName, TeamQuotas } from '../../../domain/quotas.ts'
import { type Installation, secondsOf, toWireInstallation } from './installation-wire.ts'
import { toWireTestTime } from '../test-time-wire.ts'
import { toWireQuotas, toWireUsage } from '../team-wire.ts'

/** What a team is told; null = a part of Redis does not answer. */
export interface TeamStatus {
  readonly backlog: {
    readonly pending: number
    readonly inFlight: number
    readonly startable: number
    readonly stopped: number
    readonly oldestStartable: { readonly ageMs: number } | null
  } | null
  /** `none` = no job has ended lately. */
  readonly lateness: { readonly p50: number; readonly p99: number } | 'none' | null
  readonly usage: Readonly<Record<QuotaName, number>> | null
}

export interface StatusFacts {
  readonly version: string
  readonly resources: NonNullable<WireStatus['installation']>['resources']
  readonly team: string
  readonly quotas: TeamQuotas
  readonly ofTeam: TeamStatus
  readonly installation: Installation
  /** The time of a test clock; null = there is none, or Redis does not answer. */
  readonly testTime: { readonly nowMs: number; readonly aheadMs: number } | null
  /** false = only the team's part is told. */
  readonly seesInstallation: boolean
}

const STORE_AWAY = 'Redis, or a part of it, does not answer.'

export function toWireStatus(facts: StatusFacts): WireStatus {
  const { version, resources, team, quotas, ofTeam, installation, testTime, seesInstallation } = facts
  const { backlog, lateness, usage } = ofTeam
  return {
    version,
    team,
    executors_alive: installation.executors?.areEverywhere ?? null,
    backlog: backlog === null ? null : toWireBacklog(backlog),
    lateness_ms: lateness === 'none' ? null : lateness,
    quotas: toWireQuotas(quotas),
    usage: usage === null ? null : toWireUsage(usage),
    installation: seesInstallation ? toWireInstallation(installation, resources) : null,
    ...(testTime !== null && { test_clock: toWireTestTime(testTime) }),
    unknown: [...unknownOfTeam(facts), ...(seesInstallation ? unknownOfInstallation(facts) : [])],
  }
}

function toWireBacklog(backlog: NonNullable<TeamStatus['backlog']>): WireStatus['backlog'] {
  const { pending, inFlight, startable, stopped, oldestStartable } = backlog
  return {
    pending,
    in_flight: inFlight,
    startable,
    stopped,
    oldest_startable_seconds: secondsOf(oldestStartable?.ageMs ?? null),
  }
}

function unknownOfTeam({ ofTeam, installation }: StatusFacts): WireStatus['unknown'] {
  return awayParts([
    ['executors_alive', installation.executors],
    ['backlog', ofTeam.backlog],
    ['lateness_ms', ofTeam.lateness],
    ['usage', ofTeam.usage],
  ])
}

function unknownOfInstallation({ installation, resources }: StatusFacts): WireStatus['unknown'] {
  const { executors, backlog, servers, leaderEpoch } = installation
  const isAnyAway = [...servers.values()].includes(null)
  return [
    ...awayParts([
      ['installation.executors', executors],
      ['installation.backlog', backlog],
      ['installation.redis', isAnyAway ? null : servers],
    ]),
    { part: 'installation.leader_epoch', reason: leaderText(resources, leaderEpoch) },
  ]
}

function leaderText(resources: StatusFacts['resources'], leaderEpoch: number | null): string {
  if (leaderEpoch === null) return 'No leader has begun in all shards yet, or Redis does not answer.'
  return resources === 'folder'
    ? 'The epoch counts the starts that applied the folder: a folder has no other leader.'
    : 'The epoch counts leaderships. An API does not read the Lease, which names the controller that leads now.'
}

/** A part that is null is away. */
function awayParts(parts: ReadonlyArray<readonly [part: string, value: unknown]>): WireStatus['unknown'] {
  return parts.flatMap(([part, value]) => (value === null ? [{ part, reason: STORE_AWAY }] : []))
}
