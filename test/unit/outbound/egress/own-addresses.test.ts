import { describe, expect, test } from 'vitest'
import { StartupError } from '../../../../src/domain/errors.ts'
import { parseIpAddress } from '../../../../src/domain/net/ip-address.ts'
import { EgressGuard } from '../../../../src/outbound/egress/egress-guard.ts'
import { OwnAddresses } from '../../../../src/outbound/egress/own-addresses.ts'
import { NO_TEAM_SETTINGS } from '../../../../src/ports/settings.ts'
import { createFakeClock } from '../../../support/fake-clock.ts'
import { quietLogger } from '../../../support/quiet.ts'

type Answer = readonly string[] | Error | 'silence'

function world(first: Record<string, Answer>) {
  const answers = new Map(Object.entries(first))
  const clock = createFakeClock()
  const warnings: unknown[] = []
  const warn = (_message: string, fields?: object): void => void warnings.push(fields)
  const sources = [...answers.keys()].map((name) => ({
    name,
    read: async () => {
      const answer = answers.get(name)
      if (answer === 'silence') return new Promise<never>(() => undefined)
      if (answer instanceof Error) throw answer
      return answer ?? []
    },
  }))
  const own = new OwnAddresses({
    sources,
    clock,
    logger: { ...quietLogger, warn },
    startMsMax: 60_000,
    isRefusal: (error) => error instanceof Error && error.message === 'no right',
  })
  const has = (text: string) => own.has(parseIpAddress(text) ?? expect.fail(text))
  return { answers, clock, own, has, warnings }
}

describe('our own addresses', () => {
  test('are those of all sources, without loopback and what is none', async () => {
    const { own, has } = world({ redis: ['10.0.0.7', '127.0.0.1', '::1', 'redis'], pods: ['fd00::7'] })
    await own.start()
    expect(['10.0.0.7', 'fd00::7', '10.0.0.8', '127.0.0.1', '::1'].map(has)).toEqual([
      true,
      true,
      false,
      false,
      false,
    ])
    own.stop()
  })

  test('are found anew as they change', async () => {
    const { answers, clock, own, has } = world({ redis: ['10.0.0.7'], pods: ['10.0.0.8'] })
    await own.start()
    const { generation } = own
    await clock.advance(5_000)
    expect(own.generation).toBe(generation)
    answers.set('redis', ['10.0.0.9'])
    await clock.advance(5_000)
    expect(['10.0.0.7', '10.0.0.8', '10.0.0.9'].map(has)).toEqual([false, true, true])
    expect(own.generation).toBe(generation + 1)
    answers.set('pods', [])
    await clock.advance(5_000)
    expect(['10.0.0.8', '10.0.0.9'].map(has)).toEqual([false, true])
    own.stop()
    expect(clock.timers).toBe(0)
  })

  test.each<Exclude<Answer, readonly string[]>>([new Error('no name server'), 'silence'])(
    'stay closed while they cannot be found: %s',
    async (trouble) => {
      const { answers, clock, own, has, warnings } = world({ redis: ['10.0.0.7'], pods: ['10.0.0.8'] })
      await own.start()
      answers.set('redis', trouble)
      answers.set('pods', ['10.0.0.9'])
      await clock.advance(25_000)
      expect(['10.0.0.7', '10.0.0.8', '10.0.0.9'].map(has)).toEqual([true, false, true])
      expect(warnings).toMatchObject([{ of: 'redis' }])
      answers.set('redis', ['10.0.0.6'])
      await clock.advance(10_000)
      expect(['10.0.0.6', '10.0.0.7'].map(has)).toEqual([true, false])
      own.stop()
    },
  )

  test('are all known before anything starts', async () => {
    const { answers, clock, own, has, warnings } = world({
      redis: ['10.0.0.7'],
      pods: new Error('no answer'),
    })
    let isStarted = false
    const starting = own.start().then(() => (isStarted = true))
    await clock.advance(11_000)
    expect({ isStarted, has: has('10.0.0.7') }).toEqual({ isStarted: false, has: true })
    expect(warnings).toHaveLength(1)
    answers.set('pods', ['10.0.0.8'])
    await clock.advance(5_000)
    await starting
    expect(has('10.0.0.8')).toBe(true)
    own.stop()
  })

  test('end the start, by name and reason, when they are not known in time', async () => {
    const { clock, own } = world({
      redis: ['10.0.0.7'],
      pods: new Error('no answer'),
      servers: 'silence',
    })
    const starting = own.start().catch((error: unknown) => error)
    await clock.advance(60_000)
    expect(await starting).toEqual(
      new StartupError(
        'The addresses of this installation, which no job may call, were not found within 60 s (pods: no answer; servers: no answer within 5 s). Check that Redis and DNS answer, and start the role again.',
      ),
    )
    own.stop()
  })

  test('end the start at once where a source refuses, and nothing later', async () => {
    const refused = world({ redis: ['10.0.0.7'], pods: new Error('no right') })
    await expect(refused.own.start()).rejects.toThrow('no right')
    refused.own.stop()
    expect(refused.clock.timers).toBe(0)
    const { answers, clock, own, has } = world({ pods: ['10.0.0.7'] })
    await own.start()
    answers.set('pods', new Error('no right'))
    await clock.advance(120_000)
    expect(has('10.0.0.7')).toBe(true)
    own.stop()
  })

  test('do not keep a process from ending that waits for them', async () => {
    const { own } = world({ redis: 'silence' })
    const starting = own.start()
    own.stop()
    expect(await starting).toBeUndefined()
  })

  test('are closed to every team, in every form, and whatever was decided before', async () => {
    const { answers, clock, own } = world({ redis: ['10.0.0.7', '8.8.8.8'] })
    await own.start()
    const allow = ['10.0.0.0/8', 'db.internal', '::ffff:0:0/96']
    const guard = new EgressGuard({ allow, deny: [], allowable: null, clusterCidrs: [], ownHosts: [] }, own)
    const isOpen = (url: string) => guard.refusalOf(new URL(url), NO_TEAM_SETTINGS) === null
    expect(
      ['http://10.0.0.7/', 'http://8.8.8.8/', 'http://[::ffff:10.0.0.7]/', 'http://10.0.0.8/'].map(isOpen),
    ).toEqual([false, false, false, true])
    const resolved = (address: string) =>
      guard.allowsAddresses(new URL('http://db.internal/'), [address], NO_TEAM_SETTINGS)
    expect(['10.0.0.7', '10.0.0.8'].map(resolved)).toEqual([false, true])
    answers.set('redis', ['10.0.0.8'])
    await clock.advance(5_000)
    // The last host that was asked about.
    expect(isOpen('http://10.0.0.8/')).toBe(false)
    expect(isOpen('http://10.0.0.7/')).toBe(true)
    expect(['10.0.0.7', '10.0.0.8'].map(resolved)).toEqual([true, false])
    own.stop()
  })
})
