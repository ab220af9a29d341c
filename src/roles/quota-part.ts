import { QuotaExceededError } from '../domain/errors.ts'
import { effectiveQuotas, type TeamQuotas } from '../domain/quotas.ts'
import type { CronEditor, CronStore } from '../ports/cron-store.ts'
import type { Metrics } from '../ports/metrics.ts'
import type { TeamSettings, TeamSettingsSource } from '../ports/team-settings.ts'
import type { TeamUsageReader } from '../ports/team-usage.ts'
import { nameOfKeyedCron } from '../resources/cron-manifest.ts'

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

/**
 * Refuses a cron beyond the team's quota before anything of it is written. Those that are being made count, so that
 * many at once do not pass together. Throws QuotaExceededError.
 */
export function withCronQuota(
  editor: CronEditor,
  parts: {
    readonly crons: Pick<CronStore, 'getByName'>
    readonly usage: TeamUsageReader
    readonly quotasOf: QuotasOf
    readonly metrics: Pick<Metrics, 'refusedByQuota'>
  },
): CronEditor {
  const underWay = new Map<string, number>()

  async function within<T>(team: string, make: () => Promise<T>): Promise<T> {
    const others = underWay.get(team) ?? 0
    underWay.set(team, others + 1)
    try {
      const quota = parts.quotasOf(team).crons
      if (quota !== null && (await parts.usage.read(team)).crons + others >= quota) {
        parts.metrics.refusedByQuota('crons')
        throw new QuotaExceededError('crons', quota)
      }
      return await make()
    } finally {
      const left = (underWay.get(team) ?? 1) - 1
      if (left === 0) underWay.delete(team)
      else underWay.set(team, left)
    }
  }

  return {
    create: async (team, settings, key) => {
      const make = (): ReturnType<CronEditor['create']> => editor.create(team, settings, key)
      // One of a key that lives already is no other cron.
      const isKnown = key !== null && (await parts.crons.getByName(team, nameOfKeyedCron(key))) !== null
      return isKnown ? make() : within(team, make)
    },
    edit: (team, cronId, change) => editor.edit(team, cronId, change),
    remove: (team, cronId) => editor.remove(team, cronId),
  }
}
