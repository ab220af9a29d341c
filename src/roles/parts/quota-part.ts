import { QuotaExceededError } from '../../domain/errors.ts'
import { effectiveQuotas, quotaRetryAfterSeconds, type TeamQuotas } from '../../domain/quotas.ts'
import type { Clock } from '../../ports/runtime.ts'
import type { CronEditor, CronStore } from '../../ports/crons.ts'
import type { Metrics } from '../../ports/metrics.ts'
import type { TeamSettings, TeamSettingsSource } from '../../ports/settings.ts'
import type { MetQuota, TeamUsageReader } from '../../ports/quotas.ts'
import { nameOfKeyedCron } from '../../resources/manifests/cron-manifest.ts'

/** The quotas of a team: the lower of the team's and the installation's. */
export type QuotasOf = (team: string) => TeamQuotas

export function createQuotasOf(settings: TeamSettingsSource, installation: TeamQuotas): QuotasOf {
  const known = new WeakMap<TeamSettings, TeamQuotas>()
  return (team) => {
    const own = settings.of(team)
    const found = known.get(own) ?? effectiveQuotas(own.quotas, installation)
    known.set(own, found)
    return found
  }
}

type BoundName = Exclude<MetQuota, 'share'>

interface Met {
  readonly quota: BoundName
  readonly limit: number
}

export interface QuotaParts {
  readonly usage: TeamUsageReader
  readonly quotasOf: QuotasOf
  readonly metrics: Pick<Metrics, 'refusedByQuota'>
  readonly clock: Pick<Clock, 'wallMs'>
}

/** The quotas that a run by hand may exceed, in the order in which a push names them. */
const JOB_QUOTAS = ['pendingJobs', 'storedBytes', 'jobsPerMonth'] as const satisfies readonly BoundName[]

/**
 * Checks a team's usage before anything is created. Creations in progress in this process count too, so that many at
 * once do not pass together.
 */
function createQuotaCheck({ usage, quotasOf }: QuotaParts, names: readonly BoundName[]) {
  const inProgress = new Map<string, number>()

  async function met(team: string, others: number): Promise<Met | null> {
    const quotas = quotasOf(team)
    if (names.every((name) => quotas[name] === null)) return null
    const held = await usage.read(team)
    for (const quota of names) {
      const limit = quotas[quota]
      if (limit !== null && held[quota] + others >= limit) return { quota, limit }
    }
    return null
  }

  /** @param make gets the exceeded quota; null = there is room */
  return async <T>(team: string, make: (over: Met | null) => Promise<T>): Promise<T> => {
    const others = inProgress.get(team) ?? 0
    inProgress.set(team, others + 1)
    try {
      return await make(await met(team, others))
    } finally {
      const left = (inProgress.get(team) ?? 1) - 1
      if (left === 0) inProgress.delete(team)
      else inProgress.set(team, left)
    }
  }
}

function refusal({ metrics, clock }: QuotaParts, over: Met): Error {
  const { quota, limit } = over
  metrics.refusedByQuota(quota)
  const retryAfterSeconds = quotaRetryAfterSeconds(quota, clock.wallMs())
  return new QuotaExceededError(quota, limit, { retryAfterSeconds })
}

/** Refuses a cron beyond the team's quota before it is written. Throws QuotaExceededError. */
export function withCronQuota(
  editor: CronEditor,
  parts: QuotaParts & { readonly crons: Pick<CronStore, 'getByName'> },
): CronEditor {
  const within = createQuotaCheck(parts, ['crons'])
  return {
    create: async (team, settings, key) => {
      // A known key creates no other cron.
      const isKnown = key !== null && (await parts.crons.getByName(team, nameOfKeyedCron(key))) !== null
      if (isKnown) return editor.create(team, settings, key)
      return within(team, (over) => {
        if (over !== null) throw refusal(parts, over)
        return editor.create(team, settings, key)
      })
    },
    edit: (team, cronId, change, check) => editor.edit(team, cronId, change, check),
    remove: (team, cronId) => editor.remove(team, cronId),
  }
}

/**
 * Refuses runs by hand of a team that has reached a quota of jobs, bytes or jobs per month, like its pushes. A missing
 * cron is answered as such. Throws QuotaExceededError.
 */
export function withRunQuotas(
  crons: Pick<CronStore, 'get' | 'runNow'>,
  parts: QuotaParts,
): Pick<CronStore, 'runNow'> {
  const within = createQuotaCheck(parts, JOB_QUOTAS)
  return {
    runNow: (team, cronId, callDepth) =>
      within(team, async (over) => {
        if (over !== null && (await crons.get(team, cronId)) !== null) throw refusal(parts, over)
        return crons.runNow(team, cronId, callDepth)
      }),
  }
}

/** The stores of an API, with the quotas of each team enforced. */
export function withQuotas(
  stores: { readonly crons: CronStore; readonly cronEditor: CronEditor },
  parts: QuotaParts,
): typeof stores {
  const { crons, cronEditor } = stores
  return {
    crons: { ...crons, ...withRunQuotas(crons, parts) },
    cronEditor: withCronQuota(cronEditor, { ...parts, crons }),
  }
}
