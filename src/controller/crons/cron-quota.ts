import { CRON_BYTES_PER_TEAM_MAX } from '../../domain/limits.ts'
import type { TeamQuotas } from '../../domain/quotas.ts'
import type { ObjectKey, Informer } from '../../ports/kubernetes.ts'
import { keyOf, type HttpCron, type TeamSettings } from '../kinds.ts'
import { quotasInForce } from '../teams/team-quotas.ts'

export interface CronRoomParts {
  readonly crons: Pick<Informer<HttpCron>, 'all' | 'onChange'>
  readonly teams: Pick<Informer<TeamSettings>, 'get' | 'onChange'>
  /** The installation's. */
  readonly quotas: TeamQuotas
  /** A cron that came into its team's room, or fell out of it. */
  readonly enqueue: (key: ObjectKey) => void
  /** Crons of all teams that have no room. */
  readonly count: (beyond: number) => void
}

/** Which crons of a team are in force: the oldest, up to its quota and a bound of their bytes. */
export interface CronQuota {
  /** Why there is no room for the cron; null when there is. */
  obstacle(cron: HttpCron): string | null
}

interface Place {
  readonly key: ObjectKey
  readonly createdAt: string
  readonly bytes: number
}

interface Team {
  /** All of them, oldest first. */
  readonly places: Place[]
  readonly byKey: Map<ObjectKey, Place>
  within: ReadonlySet<ObjectKey>
  /** How many have no room. */
  beyond: number
}

export function createCronQuota(parts: CronRoomParts): CronQuota {
  return new MeasuredCronRoom(parts)
}

/** Owns the order of each team's crons, by their age. It costs as much as there is room, however many have none. */
class MeasuredCronRoom implements CronQuota {
  readonly #parts: CronRoomParts
  readonly #teams = new Map<string, Team>()
  #beyond = 0

  constructor(parts: CronRoomParts) {
    this.#parts = parts
    // Whoever leads gives all of them a turn: nobody needs one for being here.
    for (const cron of parts.crons.all()) this.#put(teamOf(cron), keyOf(cron), cron)
    for (const team of [...this.#teams.keys()]) this.#measure(team)
    parts.crons.onChange((key, before, after) => {
      const cron = after ?? before
      if (cron === undefined) return
      this.#put(teamOf(cron), key, after)
      this.#tell(this.#measure(teamOf(cron)))
    })
    parts.teams.onChange((_, before, after) => {
      const settings = after ?? before
      if (settings !== undefined) this.#tell(this.#measure(teamOf(settings)))
    })
  }

  obstacle(cron: HttpCron): string | null {
    const team = this.#teams.get(teamOf(cron))
    if (team === undefined || team.within.has(keyOf(cron))) return null
    const quota = this.#quotaOf(teamOf(cron))
    return quota !== null && team.within.size >= quota
      ? `The team has ${quota} older crons, as many as its quota lets be in force.`
      : `The crons of the team up to this one have more than ${CRON_BYTES_PER_TEAM_MAX} bytes of payloads and headers.`
  }

  #put(name: string, key: ObjectKey, cron: HttpCron | undefined): void {
    const team = this.#teams.get(name) ?? { places: [], byKey: new Map(), within: new Set(), beyond: 0 }
    this.#teams.set(name, team)
    const before = team.byKey.get(key)
    if (before !== undefined) {
      team.places.splice(rankOf(team.places, before), 1)
      team.byKey.delete(key)
    }
    if (cron === undefined) return
    const place = placeOf(key, cron)
    team.places.splice(rankOf(team.places, place), 0, place)
    team.byKey.set(key, place)
  }

  /** Finds anew who has room; answers for whom that has changed. */
  #measure(name: string): readonly ObjectKey[] {
    const team = this.#teams.get(name)
    if (team === undefined) return []
    const { within: before, places, byKey } = team
    const countMax = this.#quotaOf(name) ?? Number.POSITIVE_INFINITY
    const within = new Set<ObjectKey>()
    let bytes = 0
    for (const place of places) {
      bytes += place.bytes
      if (within.size >= countMax || bytes > CRON_BYTES_PER_TEAM_MAX) break
      within.add(place.key)
    }
    team.within = within
    this.#beyond += places.length - within.size - team.beyond
    team.beyond = places.length - within.size
    this.#parts.count(this.#beyond)
    if (places.length === 0) this.#teams.delete(name)
    return [...before.symmetricDifference(within)].filter((key) => byKey.has(key))
  }

  #tell(keys: readonly ObjectKey[]): void {
    for (const key of keys) this.#parts.enqueue(key)
  }

  #quotaOf(team: string): number | null {
    return quotasInForce(team, this.#parts).crons
  }
}

function teamOf({ metadata }: HttpCron | TeamSettings): string {
  return metadata.namespace
}

/** Where it stands, or would stand. */
function rankOf(places: readonly Place[], place: Place): number {
  let [from, to] = [0, places.length]
  while (from < to) {
    const middle = (from + to) >>> 1
    if (isOlder(places[middle] as Place, place)) from = middle + 1
    else to = middle
  }
  return from
}

function isOlder(left: Place, right: Place): boolean {
  return left.createdAt === right.createdAt ? left.key < right.key : left.createdAt < right.createdAt
}

function placeOf(key: ObjectKey, { metadata, spec, leftOutBytes }: HttpCron): Place {
  const kept = leftOutBytes === undefined ? JSON.stringify([spec.payload, spec.headers]).length : 0
  return { key, createdAt: metadata.creationTimestamp ?? '', bytes: kept + (leftOutBytes ?? 0) }
}
