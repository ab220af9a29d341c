/**
 * What tokens cost a push: `node bench/tokens.ts` measures how long an API process takes to find the principal of a token
 * it knows, with its expiry, its last use and a rate limit, among as many tokens as are given.
 */
import { loopsOf } from '../test/support/loops.ts'
import { quietLogger, quietMetrics } from '../test/support/quiet.ts'
import { hash, randomBytes } from 'node:crypto'
import { Authenticator } from '../src/api/authenticator.ts'
import { NO_TERMS, type TokenTerms } from '../src/domain/access/token-terms.ts'
import type { RedisConnection } from '../src/redis/base/client/connection.ts'
import { CompiledSettings } from '../src/redis/control/compiled/compiled-settings.ts'
import { encodeToken, tokenField } from '../src/redis/control/compiled/stored-settings.ts'
import { LastUses } from '../src/redis/control/access/last-uses.ts'
import { LeasedRates } from '../src/redis/control/access/leased-rates.ts'
import { systemClock } from '../src/telemetry/system-clock.ts'

const [tokens = '10000', rounds = '300000'] = process.argv.slice(2)
const LIMIT = { requestsPerSecond: 100_000, burst: 100_000 }
const KINDS: ReadonlyArray<readonly [string, TokenTerms]> = [
  ['without limits', NO_TERMS],
  ['with scopes, queues and an expiry', { ...NO_TERMS, scopes: ['push'], queues: ['q'], expiresAtMs: 1e15 }],
  ['with a rate limit as well', { scopes: ['push'], queues: ['q'], expiresAtMs: 1e15, rateLimit: LIMIT }],
]

const texts = Array.from({ length: Number(tokens) }, () => randomBytes(32).toString('base64url'))

for (const [kind, terms] of KINDS) {
  const authenticator = await openAuthenticator(terms)
  const requests = texts.map((text) => ({
    request: { headers: { authorization: `Bearer ${text}` }, socket: {} },
    response: { setHeader: () => undefined },
  }))
  const turn = (count: number): number => {
    // Of the processor: other work on the machine does not count.
    const began = process.cpuUsage()
    for (let i = 0; i < count; i += 1) {
      const exchange = requests[(i * 7_919) % requests.length]
      if (authenticator.principalWith('push', exchange as never) === null) throw new Error('not known')
    }
    const { user, system } = process.cpuUsage(began)
    return (user + system) / count
  }
  for (const exchange of requests) await authenticator.principalWith('push', exchange as never)
  turn(Number(rounds) / 10)
  const micros = Array.from({ length: 5 }, () => turn(Number(rounds) / 5)).toSorted((a, b) => a - b)
  console.log(`${kind}: ${micros[2]?.toFixed(2)} µs a request (median of 5), ${tokens} tokens`)
}
process.exit()

async function openAuthenticator(terms: TokenTerms): Promise<Authenticator> {
  const entries = texts.map((text, index) => {
    const token = { team: `team-${index}`, name: 'ci', sha256Hex: hash('sha256', text, 'hex'), terms }
    return [tokenField(token), `${index} ${encodeToken(token)}`] as const
  })
  const stored = Object.fromEntries(entries)
  const connection = {
    hget: () => Promise.resolve('1'),
    hgetall: (key: string) => Promise.resolve(key.endsWith('tokens') ? stored : {}),
  } as unknown as RedisConnection
  const compiled = new CompiledSettings({
    connection,
    box: null,
    clock: systemClock,
    logger: quietLogger,
    metrics: quietMetrics,
    loops: loopsOf({ clock: systemClock, logger: quietLogger }),
  })
  await compiled.refresh()
  return new Authenticator({
    tokens: compiled,
    sessions: {} as never,
    rejector: {} as never,
    addressOf: () => null,
    clock: systemClock,
    tokenUses: new LastUses({ runner: {} as never, clock: systemClock, logger: quietLogger }),
    tokenRates: new LeasedRates({
      // One slice that lasts: what is measured is a request that needs no lease.
      clock: { monotonicMs: () => 0 },
      take: () => Promise.resolve({ taken: 1e9, left: 0, waitMs: 0, fullMs: 0 }),
    }),
  })
}
