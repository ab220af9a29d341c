import type { Router } from 'express'
import { type TeamStatus, toWireStatus } from '../../contract/responses/status/status-wire.ts'
import { StoreUnavailableError } from '../../domain/errors.ts'
import type { TeamQuotas } from '../../domain/quotas.ts'
import { quantile } from '../../domain/statistics/histogram.ts'
import { addTally, emptyTally } from '../../domain/statistics/tally.ts'
import type { LiveReader } from '../../ports/live/live.ts'
import type { InstallationReader, InstallationStatus } from '../../ports/live/status.ts'
import type { StatisticsReader } from '../../ports/queues.ts'
import type { TeamUsageReader } from '../../ports/quotas.ts'
import type { Clock, TestClock } from '../../ports/runtime.ts'
import { answerFresh } from '../answers.ts'
import { createTeamRouter, needs } from '../team-routes.ts'
import { SharedReadings } from './shared-readings.ts'

export interface StatusRouteParts {
  readonly installation: InstallationReader
  readonly liveFigures: LiveReader
  readonly usage: TeamUsageReader
  readonly statistics: Pick<StatisticsReader, 'ofTeam'>
  readonly about: {
    readonly version: string
    /** Where settings are kept. */
    readonly resources: 'kubernetes' | 'folder'
  }
  readonly clock: Pick<Clock, 'monotonicMs' | 'wallMs'>
  readonly testClock: TestClock | null
  quotasOf(team: string): TeamQuotas
}

/** All who ask within this time get the same reading, so that pages that are read again and again cost little. */
const READING_KEPT_MS = 5_000
/** The jobs that ended in this time say how late jobs start now. */
const LATENESS_OVER_MS = 300_000
/** The key of a reading that is not of a team. */
const INSTALLATION = ''

export function createStatusRoutes(parts: StatusRouteParts): Router {
  const { about, clock, quotasOf } = parts
  const installations = new SharedReadings<InstallationStatus>(clock, READING_KEPT_MS)
  const teams = new SharedReadings<TeamStatus>(clock, READING_KEPT_MS)
  return createTeamRouter({
    '/api/status': {
      GET: needs('read', async (context) => {
        const { team, principal } = context
        const [installation, ofTeam, testTime] = await Promise.all([
          installations.of(INSTALLATION, () => parts.installation.read()),
          teams.of(team, () => readTeam(team, parts)),
          parts.testClock === null ? null : ifAnswered(parts.testClock.read()),
        ])
        const seesInstallation = principal.permissions.has('admin')
        const facts = {
          ...about,
          team,
          quotas: quotasOf(team),
          ofTeam,
          installation,
          testTime,
          seesInstallation,
        }
        answerFresh(context, JSON.stringify(toWireStatus(facts)))
      }),
    },
  })
}

async function readTeam(
  team: string,
  { liveFigures, usage, statistics, clock }: StatusRouteParts,
): Promise<TeamStatus> {
  const [live, used, lateness] = await Promise.all([
    ifAnswered(liveFigures.read([{ team, before: null }])),
    ifAnswered(usage.read(team)),
    ifAnswered(latenessOf(statistics, team, clock.wallMs() - LATENESS_OVER_MS)),
  ])
  return { backlog: live?.[0]?.figures ?? null, usage: used, lateness }
}

async function latenessOf(
  statistics: StatusRouteParts['statistics'],
  team: string,
  sinceMs: number,
): Promise<NonNullable<TeamStatus['lateness']>> {
  const sum = emptyTally()
  for (const tally of (await statistics.ofTeam(team, sinceMs)).values()) addTally(sum, tally, 'max')
  const [p50, p99] = [quantile(sum.lateness, 0.5), quantile(sum.lateness, 0.99)]
  return p50 === null || p99 === null ? 'none' : { p50, p99 }
}

/** null = Redis, or a part of it, does not answer: the rest is told all the same. */
async function ifAnswered<T>(reading: Promise<T>): Promise<T | null> {
  try {
    return await reading
  } catch (error) {
    if (error instanceof StoreUnavailableError) return null
    throw error
  }
}
