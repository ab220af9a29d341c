import { CRON_BYTES_PER_TEAM_MAX } from '../../domain/limits.ts'
import type { TeamQuotas } from '../../domain/quotas.ts'
import type { Informer, ObjectKey } from '../../ports/kubernetes.ts'
import { keyOf, type HttpCron, type TeamSettings } from '../kinds.ts'
import { teamQuotas } from '../teams/team-quotas.ts'

export interface CronQuotaOptions {
  readonly crons: Pick<Informer<HttpCron>, 'all' | 'onChange'>
  readonly teams: Pick<Informer<TeamSettings>, 'get' | 'onChange'>
  /** The quotas of the installation. */
  readonly quotas: TeamQuotas
  /** Called for each cron that now fits the quota, or no longer does. */
  readonly enqueue: (key: ObjectKey) => void
  /** Sets the metric of crons over quota, over all teams. */
  readonly count: (overQuota: number) => void
}

interface Entry {
  readonly key: ObjectKey
  readonly createdAt: string
  readonly bytes: number
}

interface Team {
  /** The crons of the team, oldest first. */
  readonly entries: Entry[]
  readonly byKey: Map<ObjectKey, Entry>
  within: ReadonlySet<ObjectKey>
  overQuota: number
}

/**
 * Decides which crons of a team are applied: the oldest, up to its quota and a bound on their bytes. Owns the order of
 * each team's crons by age. A change costs as much as the quota, however many crons exceed it.
 */
export class CronQuota {
  readonly #options: CronQuotaOptions
  readonly #teams = new Map<string, Team>()
  #overQuota = 0

  constructor(options: CronQuotaOptions) {
    this.#options = options
    // A new leader reconciles every cron anyway, so none is enqueued here.
    for (const cron of options.crons.all()) this.#put(teamOf(cron), keyOf(cron), cron)
    for (const team of [...this.#teams.keys()]) this.#measure(team)
    options.crons.onChange((key, before, after) => {
      const cron = after ?? before
      if (cron === undefined) return
      this.#put(teamOf(cron), key, after)
      this.#enqueueChanged(teamOf(cron))
    })
    options.teams.onChange((_, before, after) => {
      const settings = after ?? before
      if (settings !== undefined) this.#enqueueChanged(teamOf(settings))
    })
  }

  /** Says in a sentence why the cron exceeds the quota; null = it does not. */
  obstacle(cron: HttpCron): string | null {
    const team = this.#teams.get(teamOf(cron))
    if (team === undefined || team.within.has(keyOf(cron))) return null
    const quota = this.#countMax(teamOf(cron))
    return team.within.size >= quota
      ? `The quota of the team is ${quota} crons, and it has that many older ones.`
      : `The payloads and headers of the team's crons, up to and including this one, exceed ${CRON_BYTES_PER_TEAM_MAX} bytes.`
  }

  #put(name: string, key: ObjectKey, cron: HttpCron | undefined): void {
    const team = this.#teams.get(name) ?? { entries: [], byKey: new Map(), within: new Set(), overQuota: 0 }
    this.#teams.set(name, team)
    const before = team.byKey.get(key)
    if (before !== undefined) {
      team.entries.splice(rankOf(team.entries, before), 1)
      team.byKey.delete(key)
    }
    if (cron === undefined) return
    const entry = entryOf(key, cron)
    team.entries.splice(rankOf(team.entries, entry), 0, entry)
    team.byKey.set(key, entry)
  }

  #enqueueChanged(name: string): void {
    for (const key of this.#measure(name)) this.#options.enqueue(key)
  }

  /** Decides again which crons are within the quota. @returns the keys for which that has changed */
  #measure(name: string): readonly ObjectKey[] {
    const team = this.#teams.get(name)
    if (team === undefined) return []
    const { within: before, entries, byKey } = team
    const countMax = this.#countMax(name)
    const within = new Set<ObjectKey>()
    let bytes = 0
    for (const entry of entries) {
      bytes += entry.bytes
      if (within.size >= countMax || bytes > CRON_BYTES_PER_TEAM_MAX) break
      within.add(entry.key)
    }
    team.within = within
    this.#overQuota += entries.length - within.size - team.overQuota
    team.overQuota = entries.length - within.size
    this.#options.count(this.#overQuota)
    if (entries.length === 0) this.#teams.delete(name)
    return [...before.symmetricDifference(within)].filter((key) => byKey.has(key))
  }

  #countMax(team: string): number {
    return teamQuotas(team, this.#options).crons ?? Number.POSITIVE_INFINITY
  }
}

function teamOf({ metadata }: HttpCron | TeamSettings): string {
  return metadata.namespace
}

/** The index at which the entry stands, or would stand. */
function rankOf(entries: readonly Entry[], entry: Entry): number {
  let [from, to] = [0, entries.length]
  while (from < to) {
    const middle = (from + to) >>> 1
    if (isOlder(entries[middle] as Entry, entry)) from = middle + 1
    else to = middle
  }
  return from
}

function isOlder(left: Entry, right: Entry): boolean {
  return left.createdAt === right.createdAt ? left.key < right.key : left.createdAt < right.createdAt
}

function entryOf(key: ObjectKey, { metadata, spec, leftOutBytes }: HttpCron): Entry {
  const bytes = leftOutBytes ?? JSON.stringify([spec.payload, spec.headers]).length
  return { key, createdAt: metadata.creationTimestamp ?? '', bytes }
}
