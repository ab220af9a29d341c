import { LruCache } from '../../domain/lru-cache.ts'
import { FairTurns } from '../../domain/shares/fair-turns.ts'
import type { Clock } from '../../ports/runtime.ts'
import type { Origin } from './cluster-keys.ts'
import type { Jwt } from './jwt.ts'

/**
 * Says how much is known of a token before the API server is asked about it. `genuine`: the cluster signed it, or it
 * was good when last asked about. `alike`: it resembles one that was good. `unknown`: anybody may have made it up.
 */
type Lane = 'genuine' | 'alike' | 'unknown'

/** Bounds the questions under way and those that wait, in each lane, so that made-up tokens take no place of others. */
export const LANE = { atOnce: 16, waiting: 200, waitMs: 5_000 }
/** At most this many subjects, and as many features of tokens, are remembered. */
const SUBJECTS_MAX = 10_000
const LOOKS_MAX = 1_000
const SERVICE_ACCOUNT = /^system:serviceaccount:([^:]+):/

/** Where a question about a token stands in line. */
export interface Standing {
  readonly lane: Lane
  /** Uses up an attempt if the API server refuses the token. */
  readonly taker: string
  /** The holder whose turn it takes: holders share a lane. */
  readonly holder: string
}

/**
 * Assigns questions about unknown tokens to lanes. Owns the features of tokens that the API server knew, none of which
 * somebody could learn from a token that was made up.
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

  /** @param jwt null = the token is opaque */
  standingOf(jwt: Jwt | null, { origin, address }: { origin: Origin; address: string }): Standing {
    const byAddress = { taker: `address ${address}`, holder: address }
    const lane = origin === 'genuine' ? 'genuine' : 'unknown'
    if (jwt === null) return { lane, ...byAddress }
    if (lane === 'genuine') {
      // The uids are part of the taker: a pod's tokens may have ended with it, and those of the next pod must not wait
      // for that.
      const taker = `genuine ${JSON.stringify([jwt.subject, ...jwt.boundTo])}`
      return { lane, taker, holder: holderNamed(jwt.subject ?? '') }
    }
    const subject = subjectOf(jwt)
    if (this.#subjects.get(subject) === true) {
      // Anybody may write another's name into a token. Attempts are therefore counted by address, and such a token uses
      // up its sender's own.
      const own = `address ${address} ${subject}`
      return { lane: 'alike', taker: own, holder: own }
    }
    const look = lookOf(jwt)
    if (this.#looks.get(look) !== true) return { lane, ...byAddress }
    return { lane: 'alike', taker: `address ${address} ${look}`, holder: address }
  }

  /** Learns from a token that the API server knew. */
  note(jwt: Jwt): void {
    this.#subjects.set(subjectOf(jwt), true)
    this.#looks.set(lookOf(jwt), true)
  }
}

/** Counts all service accounts of a namespace as one holder: whoever may make one of them may make a thousand. */
export function holderNamed(username: string): string {
  return SERVICE_ACCOUNT.exec(username)?.[1] ?? `user ${username}`
}

function subjectOf({ issuer, audiences, subject }: Jwt): string {
  return `subject ${JSON.stringify([issuer, audiences, subject])}`
}

function lookOf({ issuer, audiences, keyId, algorithm }: Jwt): string {
  return `look ${JSON.stringify([issuer, audiences, keyId, algorithm])}`
}
