import { createSocket, type Socket } from 'node:dgram'
import { once } from 'node:events'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, afterEach, beforeEach, describe, expect, test } from 'vitest'
import { DNS_TIMEOUT_MS } from '../../../src/domain/limits.ts'
import {
  createNameResolver,
  NameResolutionError,
  type NameResolverOptions,
  type ResolveName,
} from '../../../src/outbound/dns/name-resolver.ts'
import { systemClock } from '../../../src/telemetry/system-clock.ts'
import { createFakeClock } from '../../support/fake-clock.ts'
import { until } from '../../support/until.ts'
import { startCaller, startRawTarget, teamSettings } from '../../support/targets/outbound-targets.ts'

/** The same for a name that does not exist and for one of the private network: nobody learns which names there are. */
const NO_ADDRESS_MESSAGE = 'The host name does not exist, or has no address that the egress policy allows.'
const OK = 'HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok'

describe('a name and the policy', () => {
  const target = startRawTarget((socket) => socket.write(OK))
  const open = { allow: [], deny: [], allowable: null, clusterCidrs: [], ownHosts: [] }
  const BLOCKED = {
    kind: 'failed',
    reason: 'blocked_target',
    message: 'The target is not allowed by the egress policy.',
  }
  const NO_ADDRESS = { kind: 'failed', reason: 'dns_error', message: NO_ADDRESS_MESSAGE }

  afterAll(async () => (await target).close())

  test.each<[string, string[]]>([
    ['a private answer', ['127.0.0.1']],
    ['one private answer among public ones', ['8.8.8.8', '127.0.0.1', '2001:4860::1']],
    ['a mapped answer', ['::ffff:127.0.0.1']],
    ['no answer that can be read', ['not an address']],
    ['no answer', []],
  ])('%s refuses the target without a connection', async (_name, addresses) => {
    const { port, connections } = await target
    const before = connections()
    const caller = startCaller({ resolve: async () => addresses, egressSettings: open })
    expect(await caller.call(`http://hooks.example:${port}/`)).toMatchObject(NO_ADDRESS)
    expect(connections()).toBe(before)
    await caller.close()
  })

  test.each([
    '127.0.0.1',
    '127.1',
    '2130706433',
    '0x7f000001',
    '0177.0.0.1',
    '127.0.0.1.',
    '[::ffff:127.0.0.1]',
    '[::127.0.0.1]',
    '[::1]',
    '0.0.0.0',
    'localhost',
    'LOCALHOST.',
    'a.localhost',
  ])('%s is refused without a look-up or a connection', async (host) => {
    const { port, connections } = await target
    const before = connections()
    let lookUps = 0
    const resolve: ResolveName = async () => {
      lookUps += 1
      return ['127.0.0.1']
    }
    const caller = startCaller({ resolve, egressSettings: open })
    expect(await caller.call(`http://${host}:${port}/`)).toMatchObject(BLOCKED)
    expect(lookUps).toBe(0)
    expect(connections()).toBe(before)
    await caller.close()
  })

  test('an answer that turns private is refused at the next connection', async () => {
    const { port, connections } = await target
    const before = connections()
    const answers = [['127.0.0.1'], ['10.0.0.1'], ['127.0.0.1', '10.0.0.1']]
    const caller = startCaller({
      resolve: async () => answers.shift() ?? [],
      egressSettings: { ...open, allow: ['127.0.0.0/8'] },
    })
    const call = (version: number) =>
      caller.call(`http://flip.example:${port}/`, { settings: teamSettings({ version }) })
    expect(await call(1)).toMatchObject({ kind: 'answered' })
    expect(await call(2)).toMatchObject(NO_ADDRESS)
    expect(await call(3)).toMatchObject(NO_ADDRESS)
    expect(connections()).toBe(before + 1)
    await caller.close()
  })

  test('a suffix of the team opens its names and no other', async () => {
    const { port } = await target
    const caller = startCaller({ resolve: async () => ['127.0.0.1'], egressSettings: open })
    const settings = teamSettings({ egressAllow: ['shop.example'] })
    expect(await caller.call(`http://api.shop.example:${port}/`, { settings })).toMatchObject({
      kind: 'answered',
    })
    expect(await caller.call(`http://api.example:${port}/`, { settings })).toMatchObject(NO_ADDRESS)
    expect(await caller.call(`http://api.shop.example:${port}/`, { team: 'b' })).toMatchObject(NO_ADDRESS)
    await caller.close()
  })

  test('of several addresses the first that answers is used', async () => {
    const { port } = await target
    const caller = startCaller({ resolve: async () => ['127.0.0.2', '127.0.0.1', '::1'] })
    expect(await caller.call(`http://many.example:${port}/`)).toMatchObject({ kind: 'answered' })
    await caller.close()
  })

  test('silence ends with the call', async () => {
    const caller = startCaller({ resolve: () => new Promise(() => {}) })
    expect(await caller.call('http://silent.example/', { timeoutMs: 100 })).toMatchObject({
      reason: 'timeout',
      message: 'No complete response within 0.1 s, while looking up the host name.',
      timings: { dnsMs: expect.any(Number), connectMs: null },
    })
    await caller.close()
  })
})

/** Answers a DNS question: addresses or whole records (`name CNAME name`, `name A address`), a response code, or silence. */
type Zone = (name: string, type: 'A' | 'AAAA') => readonly string[] | number | null

const NXDOMAIN = 3
/** Of every record that the server gives. */
let ttlSeconds = 60
const SERVFAIL = 2

describe('the resolver', () => {
  const folder = mkdtempSync(join(tmpdir(), 'punctual-dns-'))
  let server: Socket
  let zone: Zone
  let questions: string[]
  let machine: NameResolverOptions
  let resolve: ResolveName

  beforeEach(async () => {
    questions = []
    ttlSeconds = 60
    server = createSocket('udp4', (query, from) => {
      const { name, type, question } = parseQuery(query)
      questions.push(`${type} ${name}`)
      const answer = zone(name, type)
      if (answer !== null) server.send(encodeAnswer(query, question, answer), from.port, from.address)
    })
    server.bind(0, '127.0.0.1')
    await once(server, 'listening')
    writeFileSync(join(folder, 'hosts'), '10.9.8.7 printer printer.office\n')
    writeFileSync(
      join(folder, 'resolv.conf'),
      'search shop.svc.cluster.local svc.cluster.local\noptions ndots:5\n',
    )
    machine = {
      clock: systemClock,
      hostsPath: join(folder, 'hosts'),
      resolvConfPath: join(folder, 'resolv.conf'),
      servers: [`127.0.0.1:${server.address().port}`],
    }
    resolve = createNameResolver(machine)
  })
  afterEach(() => server.close())
  afterAll(() => rmSync(folder, { recursive: true }))

  test('gives all answers of both families', async () => {
    zone = (_name, type) => (type === 'A' ? ['192.0.2.1', '192.0.2.2'] : ['2001:db8::1'])
    expect([...(await resolve('all.example.'))].toSorted()).toEqual(['192.0.2.1', '192.0.2.2', '2001:db8::1'])
  })

  test('finds a service by the search domains of a pod', async () => {
    zone = (name, type) =>
      name === 'orders.shop.svc.cluster.local' && type === 'A' ? ['10.0.0.9'] : NXDOMAIN
    expect(await resolve('orders')).toEqual(['10.0.0.9'])
    expect(await resolve('orders.shop')).toEqual(['10.0.0.9'])
  })

  test('asks no server for localhost and the names of the hosts file', async () => {
    zone = () => NXDOMAIN
    expect(await resolve('localhost')).toEqual(['127.0.0.1', '::1'])
    expect(await resolve('a.localhost.')).toEqual(['127.0.0.1', '::1'])
    expect(await resolve('Printer.Office')).toEqual(['10.9.8.7'])
    expect(questions).toEqual([])
  })

  test('asks once for calls at the same time and soon after', async () => {
    zone = (_name, type) => (type === 'A' ? ['192.0.2.1'] : [])
    await Promise.all(Array.from({ length: 20 }, () => resolve('busy.example.')))
    await resolve('busy.example.')
    expect(questions.toSorted()).toEqual(['A busy.example', 'AAAA busy.example'])
  })

  test.each([
    ['60 s are reused for 5', 60, 5_000],
    ['3 s for as long', 3, 3_000],
    ['nothing for 1 s', 0, 1_000],
  ])('answers that hold for %s', async (_name, ttl, reusedMs) => {
    ttlSeconds = ttl
    zone = (_question, type) => (type === 'A' ? ['192.0.2.1'] : [])
    const clock = createFakeClock()
    const onClock = createNameResolver({ ...machine, clock })
    await onClock('held.example.')
    await clock.advance(reusedMs - 1)
    await onClock('held.example.')
    expect(questions).toHaveLength(2)
    await clock.advance(1)
    await onClock('held.example.')
    expect(questions).toHaveLength(4)
  })

  test('reads the hosts file again after 5 s', async () => {
    zone = () => NXDOMAIN
    const clock = createFakeClock()
    const onClock = createNameResolver({ ...machine, clock })
    await expect(onClock('scanner')).rejects.toThrow(NameResolutionError)
    writeFileSync(join(folder, 'hosts'), '10.9.8.6 scanner\n')
    await clock.advance(4_999)
    await expect(onClock('scanner')).rejects.toThrow(NameResolutionError)
    await clock.advance(1)
    expect(await onClock('scanner')).toEqual(['10.9.8.6'])
  })

  test('does without a family that never answers', async () => {
    zone = (_name, type) => (type === 'A' ? ['192.0.2.1'] : null)
    expect(await resolve('half.example.')).toEqual(['192.0.2.1'])
  })

  test.each<[string, Zone, string]>([
    ['NXDOMAIN', () => NXDOMAIN, NO_ADDRESS_MESSAGE],
    ['no records', () => [], NO_ADDRESS_MESSAGE],
    ['SERVFAIL', () => SERVFAIL, 'The name servers could not resolve the host name (ESERVFAIL).'],
  ])('says what %s means', async (_name, answers, message) => {
    zone = answers
    await expect(resolve('gone.example.')).rejects.toThrow(new NameResolutionError(message))
  })

  test('gives up on silence, and other names are not held up', async () => {
    zone = (name, type) => (name.startsWith('silent') ? null : type === 'A' ? ['192.0.2.1'] : [])
    const silent = Array.from({ length: 50 }, (_, at) => resolve(`silent-${at}.example.`))
    const ends = Promise.allSettled(silent)
    expect(await resolve('quick.example.')).toEqual(['192.0.2.1'])
    for (const end of await ends) {
      expect(end).toMatchObject({ status: 'rejected', reason: { name: 'NameResolutionError' } })
    }
  })

  test('gives up at its bound, however many names and tries are left', async () => {
    zone = () => null
    const clock = createFakeClock()
    const patient = createNameResolver({ ...machine, clock })
    const end = patient('orders.shop').catch((error: unknown) => error)
    await until('it has asked', () => questions.length > 0)
    await clock.advance(DNS_TIMEOUT_MS - 1)
    const pending = Symbol('pending')
    expect(await Promise.race([end, Promise.resolve(pending)])).toBe(pending)
    await clock.advance(1)
    expect(await end).toEqual(new NameResolutionError('The name servers did not respond within 5 s.'))
  })

  test('finds the address behind an alias', async () => {
    zone = (name, type) =>
      type === 'A' ? [`${name} CNAME b.example`, 'b.example CNAME c.example', 'c.example A 192.0.2.7'] : []
    expect(await resolve('a.example.')).toEqual(['192.0.2.7'])
  })

  test.each<[string, Zone]>([
    ['itself', (name) => [`${name} CNAME ${name}`]],
    ['another that leads back', (name) => [`${name} CNAME b.example`, `b.example CNAME ${name}`]],
    ['a name of which nothing is said', (name) => [`${name} CNAME next.${name}`]],
  ])('asks no further where an alias leads to %s', async (_name, answers) => {
    zone = answers
    await expect(resolve('a.example.')).rejects.toThrow(NO_ADDRESS_MESSAGE)
    expect(questions.toSorted()).toEqual(['A a.example', 'AAAA a.example'])
  })

  test('searches on behind a name whose alias leads nowhere', async () => {
    zone = (name, type) => {
      if (name === 'orders.shop.svc.cluster.local') return [`${name} CNAME gone.example`]
      return name === 'orders.svc.cluster.local' && type === 'A' ? ['10.0.0.9'] : NXDOMAIN
    }
    expect(await resolve('orders')).toEqual(['10.0.0.9'])
  })

  test('makes a failure of the call', async () => {
    zone = () => NXDOMAIN
    const caller = startCaller({ resolve })
    expect(await caller.call('http://gone.example/')).toMatchObject({
      kind: 'failed',
      reason: 'dns_error',
      message: NO_ADDRESS_MESSAGE,
      timings: { dnsMs: expect.any(Number), connectMs: null },
    })
    await caller.close()
  })
})

function parseQuery(query: Buffer): { name: string; type: 'A' | 'AAAA'; question: Buffer } {
  const labels: string[] = []
  let at = 12
  for (let length = query.readUInt8(at); length > 0; length = query.readUInt8(at)) {
    labels.push(query.toString('latin1', at + 1, at + 1 + length))
    at += 1 + length
  }
  const type = query.readUInt16BE(at + 1) === 28 ? 'AAAA' : 'A'
  return { name: labels.join('.').toLowerCase(), type, question: query.subarray(12, at + 5) }
}

function encodeAnswer(query: Buffer, question: Buffer, answer: readonly string[] | number): Buffer {
  const records = typeof answer === 'number' ? [] : answer.map(encodeRecord)
  const head = Buffer.alloc(12)
  query.copy(head, 0, 0, 2)
  head.writeUInt16BE(0x8180 | (typeof answer === 'number' ? answer : 0), 2)
  head.writeUInt16BE(1, 4)
  head.writeUInt16BE(records.length, 6)
  return Buffer.concat([head, question, ...records])
}

const TYPE_NUMBERS = { A: 1, CNAME: 5, AAAA: 28 } as const

function encodeRecord(text: string): Buffer {
  const [owner, type, value] = text.includes(' ')
    ? (text.split(' ') as [string, keyof typeof TYPE_NUMBERS, string])
    : ([null, text.includes(':') ? 'AAAA' : 'A', text] as const)
  const data = dataOf(type, value)
  const rest = Buffer.alloc(10)
  rest.writeUInt16BE(TYPE_NUMBERS[type], 0)
  rest.writeUInt16BE(1, 2)
  rest.writeUInt32BE(ttlSeconds, 4)
  rest.writeUInt16BE(data.length, 8)
  // Without an owner it is the name that was asked for, which begins at byte 12.
  return Buffer.concat([owner === null ? Buffer.from([0xc0, 12]) : encodeName(owner), rest, data])
}

function dataOf(type: keyof typeof TYPE_NUMBERS, value: string): Buffer {
  if (type === 'CNAME') return encodeName(value)
  return type === 'AAAA' ? ipv6Bytes(value) : Buffer.from(value.split('.').map(Number))
}

function encodeName(name: string): Buffer {
  const labels = name.split('.').flatMap((label) => [Buffer.from([label.length]), Buffer.from(label)])
  return Buffer.concat([...labels, Buffer.from([0])])
}

function ipv6Bytes(address: string): Buffer {
  const [head = '', tail = ''] = address.split('::')
  const words = (text: string) => text.split(':').filter((word) => word !== '')
  const hex = (word: string) => word.padStart(4, '0')
  const left = words(head).map(hex).join('')
  const right = words(tail).map(hex).join('')
  return Buffer.from(left + right.padStart(32 - left.length, '0'), 'hex')
}
