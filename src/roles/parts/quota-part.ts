import { QuotaExceededError } from '../../domain/errors.ts'
import { effectiveQuotas, quotaRetryAfterSeconds, type TeamQuotas } from '../../domain/quotas.ts'
import type { Clock } from '../../ports/runtime.ts'
import type { CronEditor, CronStore } from '../../ports/crons.ts'
import type { JobStore } from '../../ports/jobs.ts'
import type { Metrics } from '../../ports/metrics.ts'
import type { TeamSettings, TeamSettingsSource } from '../../ports/settings.ts'
import type { MetQuota, TeamUsageReader } from '../../ports/quotas.ts'
import { nameOfKeyedCron } from '../../resources/manifests/cron-manifest.ts'

/** The quotas of each team: its own and the installation's, the lower of each. */
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

/** What a job that is made by hand may meet, in the order in which a push names them. */
const JOB_QUOTAS = ['pendingJobs', 'storedBytes', 'jobsPerMonth'] as const satisfies readonly BoundName[]

/**
 * Looks at what a team holds before anything more of it is made. What is being made counts, one each, so that many at
 * once in this process do not pass together.
 */
function createQuotaLook({ usage, quotasOf }: QuotaParts, names: readonly BoundName[]) {
  const underWay = new Map<string, number>()

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

  /** @param make told which quota leaves no room for it; null = none */
  return async <T>(team: string, make: (over: Met | null) => Promise<T>): Promise<T> => {
    const others = underWay.get(team) ?? 0
    underWay.set(team, others + 1)
    try {
      return await make(await met(team, others))
    } finally {
      const left = (underWay.get(team) ?? 1) - 1
      if (left === 0) underWay.delete(team)
      else underWay.set(team, left)
    }
  }
}

function refusal({ metrics, clock }: QuotaParts, over: Met): Error {
  const { quota, limit } = over
  metrics.refusedByQuota(quota)
  const retryAfterSeconds = quotaRetryAfterSeconds(quota, clock.wallMs())
  return new QuotaExceededError(quota, limit, { retryAfterSeconds })
}

/** Refuses a cron beyond the team's quota before anything of it is written. Throws QuotaExceededError. */
export function withCronQuota(
  editor: CronEditor,
  parts: QuotaParts & { readonly crons: Pick<CronStore, 'getByName'> },
): CronEditor {
  const within = createQuotaLook(parts, ['crons'])
  return {
    create: async (team, settings, key) => {
      // One of a key that lives already is no other cron.
      const isKnown = key !== null && (await parts.crons.getByName(team, nameOfKeyedCron(key))) !== null
      if (isKnown) return editor.create(team, settings, key)
      return within(team, (over) => {
        if (over !== null) throw refusal(parts, over)
        return editor.create(team, settings, key)
      })
    },
    edit: (team, cronId, change) => editor.edit(team, cronId, change),
    remove: (team, cronId) => editor.remove(team, cronId),
  }
}

/**
 * Refuses runs by hand and replays of a team that is at a quota of jobs, bytes or jobs a month, as its pushes are. What
 * cannot be made anyway is answered for its own reason. Throws QuotaExceededError.
 */
export function withJobQuotas(
  crons: Pick<CronStore, 'get' | 'runNow'>,
  jobs: Pick<JobStore, 'get' | 'replay'>,
  parts: QuotaParts,
): Pick<CronStore, 'runNow'> & Pick<JobStore, 'replay'> {
  const within = createQuotaLook(parts, JOB_QUOTAS)
  return {
    runNow: (team, cronId) =>
      within(team, async (over) => {
        if (over !== null && (await crons.get(team, cronId)) !== null) throw refusal(parts, over)
        return crons.runNow(team, cronId)
      }),
    replay: (team, jobId) =>
      within(team, async (over) => {
        const chain = over === null ? null : await jobs.get(team, jobId)
        if (over !== null && chain?.end === 'dead_lettered' && chain.replayedAs === null)
          throw refusal(parts, over)
        return jobs.replay(team, jobId)
      }),
  }
}

/** What an API makes and edits, held to the quotas of each team. */
export function withQuotas(
  stores: { readonly crons: CronStore; readonly cronEditor: CronEditor; readonly jobs: JobStore },
  parts: QuotaParts,
): typeof stores {
  const { crons, cronEditor, jobs } = stores
  const { runNow, replay } = withJobQuotas(crons, jobs, parts)
  return {
    crons: { ...crons, runNow },
    cronEditor: withCronQuota(cronEditor, { ...parts, crons }),
    jobs: { ...jobs, replay },
  }
}
