import { LruCache } from '../../domain/lru-cache.ts'
import { FairTurns } from '../../domain/shares/fair-turns.ts'
import type { Clock } from '../../ports/runtime.ts'
import type { Origin } from './cluster-keys.ts'
import type { Jwt } from './jwt.ts'

/**
 * By how much is known of a token before the API server is asked about it. `genuine`: the cluster signed it, or it was good
 * when last asked about. `alike`: it looks like one that was good. `unknown`: anybody may have made it up.
 */
type Lane = 'genuine' | 'alike' | 'unknown'

/** Questions under way, and those that wait, in each lane, so that what is made up takes no place of what is not. */
export const LANE = { atOnce: 16, waiting: 200, waitMs: 5_000 }
/** Subjects, and looks of tokens, that are remembered. */
const SUBJECTS_MAX = 10_000
const LOOKS_MAX = 1_000
const SERVICE_ACCOUNT = /^system:serviceaccount:([^:]+):/

/** Where a question about a token stands in line. */
export interface Standing {
  readonly lane: Lane
  /** Who uses up an attempt if the API server refuses the token. */
  readonly taker: string
  /** Whose turn it takes: holders share a lane. */
  readonly holder: string
}

/**
 * Deals the questions about tokens that are not known. Owns what was seen of those that the API server knew: none of it can
 * be learnt from a token that somebody made up.
 */
export class TokenLanes {
  readonly turns: Readonly<Record<Lane, FairTurns>>
  readonly #subjects = new LruCache<string, true>(SUBJECTS_MAX)
  readonly #looks = new LruCache<string, true>(LOOKS_MAX)

  constructor(clock: Clock) {
    this.turns = {
      genuine: new FairTurns(clock, LANE),
      alike: new FairTurns(clock, LANE),
      unknown: new FairTurns(clock, LANE),
    }
  }

  /** @param jwt null for an opaque token */
  standingOf(jwt: Jwt | null, { origin, address }: { origin: Origin; address: string }): Standing {
    const byAddress = { taker: `address ${address}`, holder: address }
    const lane = origin === 'genuine' ? 'genuine' : 'unknown'
    if (jwt === null) return { lane, ...byAddress }
    if (lane === 'genuine') {
      // Its tokens may have ended with a pod, and those of the next pod must not wait for that.
      const taker = `genuine ${JSON.stringify([jwt.subject, ...jwt.boundTo])}`
      return { lane, taker, holder: holderNamed(jwt.subject ?? '') }
    }
    const subject = subjectOf(jwt)
    if (this.#subjects.get(subject) === true) {
      // Anybody may write somebody's name into a token: where they come from, they use up attempts of their own.
      const own = `address ${address} ${subject}`
      return { lane: 'alike', taker: own, holder: own }
    }
    const look = lookOf(jwt)
    if (this.#looks.get(look) !== true) return { lane, ...byAddress }
    return { lane: 'alike', taker: `address ${address} ${look}`, holder: address }
  }

  /** For a token that the API server knew. */
  note(jwt: Jwt): void {
    this.#subjects.set(subjectOf(jwt), true)
    this.#looks.set(lookOf(jwt), true)
  }
}

/** Service accounts of a namespace count as one: who may make one may make a thousand. */
export function holderNamed(username: string): string {
  return SERVICE_ACCOUNT.exec(username)?.[1] ?? `user ${username}`
}

function subjectOf({ issuer, audiences, subject }: Jwt): string {
  return `subject ${JSON.stringify([issuer, audiences, subject])}`
}

function lookOf({ issuer, audiences, keyId, algorithm }: Jwt): string {
  return `look ${JSON.stringify([issuer, audiences, keyId, algorithm])}`
}
