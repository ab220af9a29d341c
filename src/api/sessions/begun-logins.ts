import type { IncomingMessage } from 'node:http'
import { LruCache } from '../../domain/lru-cache.ts'
import type { PendingLogin } from '../../ports/access/login-provider.ts'
import type { Clock } from '../../ports/runtime.ts'
import type { CursorBox } from '../access/sealed-cursors.ts'
import { cookieOf, cookieText, nameFor } from './session-cookie.ts'

/** How long somebody may take at the provider. */
const BEGUN_MS = 10 * 60_000
const BEGUN_CHARACTERS_MAX = 2_048
/** Logins of the last ten minutes that a process remembers as ended. */
const ENDED_MAX = 10_000

/** A login as the browser keeps it while it is at the provider. */
export interface BegunLogin extends PendingLogin {
  /** Team the login was started for; null if none was given. */
  readonly team: string | null
}

/**
 * Logins that have begun, each in a cookie of its browser that only we can have written: whoever comes back without one, or
 * with the state of another, is not worth a question to the provider. Owns which ones have ended in this process.
 */
export class BegunLogins {
  readonly #box: Pick<CursorBox, 'seal' | 'open'>
  readonly #clock: Pick<Clock, 'wallMs'>
  readonly #ended = new LruCache<string, true>(ENDED_MAX)

  constructor(box: Pick<CursorBox, 'seal' | 'open'>, clock: Pick<Clock, 'wallMs'>) {
    this.#box = box
    this.#clock = clock
  }

  /** @returns the value of a `Set-Cookie`. @param begun null removes the cookie */
  cookie(request: IncomingMessage, begun: BegunLogin | null): string {
    const value =
      begun === null
        ? null
        : this.#box.seal(JSON.stringify({ ...begun, untilMs: this.#clock.wallMs() + BEGUN_MS }))
    return cookieText(request, { name: cookieName(request), value, maxAgeMs: BEGUN_MS })
  }

  /** The login that this browser comes back from; null = it began none of this state, took too long, or has ended it. */
  returning(request: IncomingMessage, state: string | null): BegunLogin | null {
    const text = cookieOf(request, cookieName(request)) ?? ''
    if (text === '' || text.length > BEGUN_CHARACTERS_MAX) return null
    const begun = this.#opened(text)
    if (begun === null || begun.state !== state || begun.untilMs <= this.#clock.wallMs()) return null
    return this.#ended.get(begun.state) === undefined ? begun : null
  }

  /** It has been judged: the provider takes its code no more. */
  end({ state }: BegunLogin): void {
    this.#ended.set(state, true)
  }

  #opened(text: string): (BegunLogin & { readonly untilMs: number }) | null {
    try {
      return JSON.parse(this.#box.open(text)) as BegunLogin & { readonly untilMs: number }
    } catch {
      return null
    }
  }
}

function cookieName(request: IncomingMessage): string {
  return `${nameFor(request)}-login`
}
