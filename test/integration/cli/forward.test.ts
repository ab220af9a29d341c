/** `punctual listen --forward`: a real installation, its target, and a server of the developer's machine. */
import { Command, CommanderError } from 'commander'
import { randomBytes } from 'node:crypto'
import { type AddressInfo, connect, createServer, type Socket } from 'node:net'
import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest'
import { registerClientCommands } from '../../../src/cli/commands.ts'
import { isVerified, verify } from '../../../src/cli/receiver/signature.ts'
import type { ApiClient } from '../../support/servers/api-client.ts'
import { createStandaloneWorld } from '../../support/servers/standalone-world.ts'
import { type Arrival, latch, startTarget, statuses, type Target } from '../../support/targets/target.ts'
import { until } from '../../support/until.ts'

/** Of a connection, or of the length of the body. */
const OF_CONNECTION = ['host', 'connection', 'content-length']
const MORE_THAN_RECORDED = 20 * 1024

const world = createStandaloneWorld()
let client: ApiClient
let target: Target
let local: Target
let way: Way
let secret = ''
let token = ''
let queues = 0

beforeAll(async () => {
  const folder = world.newFolder()
  const { program, client: started } = await world.start(folder)
  client = started
  target = await world.newTarget()
  local = await world.newTarget()
  const { url } = await program.logged('Standalone runs')
  way = await openWay(Number(new URL(String(url)).port))
  secret = (await made<{ secret: string }>('/api/signing-secrets', {})).secret
  token = (await made<{ token: string }>('/api/tokens', { name: 'developer', scopes: ['operate'] })).token
  // Until it signs, calls go out without a signature.
  await until('calls are signed', async () => {
    const { job_id: id } = await client.push({ queue: 'first', url: `${target.url}/first` })
    await client.ended(id)
    return target.arrivals('/first').at(-1)?.headers['webhook-signature'] !== undefined
  })
}, 120_000)
afterAll(async () => {
  await way?.close()
  await world.close()
})
beforeEach(() => {
  target.forget()
  local.forget()
})

interface Way {
  readonly url: string
  /** Resets every connection, also those to come. */
  shut(): void
  open(): void
  close(): Promise<unknown>
}

/** The way to the API, as through a network that may be gone. */
async function openWay(port: number): Promise<Way> {
  const sockets = new Set<Socket>()
  let isShut = false
  const server = createServer((near) => {
    if (isShut) return void near.destroy()
    const far = connect(port, '127.0.0.1')
    for (const socket of [near, far]) {
      sockets.add(socket)
      socket.on('error', () => undefined)
      socket.on('close', () => void [near, far].map((either) => either.destroy()))
    }
    near.pipe(far).pipe(near)
  })
  const shut = (): void => {
    isShut = true
    for (const socket of sockets) socket.destroy()
    sockets.clear()
  }
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    shut,
    open: () => void (isShut = false),
    close: () => {
      shut()
      return new Promise((resolve) => server.close(resolve))
    },
  }
}

async function made<T>(path: string, body: object): Promise<T> {
  const answer = await client.send<T>('POST', path, body)
  expect(answer.status, JSON.stringify(answer.body)).toBe(201)
  return answer.body
}

interface Running {
  out(): string
  err(): string
  /** As Ctrl-C does; answers the exit code. */
  stop(): Promise<number>
  readonly ended: Promise<number>
}

function run(
  args: readonly string[],
  given: { readonly token?: string; readonly server?: string } = {},
): Running {
  const { promise: interrupted, resolve: interrupt } = Promise.withResolvers<void>()
  let [out, err] = ['', '']
  const program = new Command('punctual').exitOverride()
  registerClientCommands(program, {
    serverGiven: given.server ?? way.url,
    serverDefault: 'http://127.0.0.1:1',
    tokenDefault: given.token ?? token,
    findLocal: async () => ({ path: '.punctual', running: null }),
    version: '1.2.3',
    stdout: { write: (text) => (out += text) },
    stderr: { write: (text) => (err += text) },
    stdin: (async function* () {})(),
    sleep: async () => undefined,
    ask: null,
    interrupted: () => interrupted,
    nowMs: () => Date.now(),
  })
  const ended = program.parseAsync(['listen', ...args], { from: 'user' }).then(
    () => 0,
    (fault: unknown) => {
      if (fault instanceof CommanderError) return fault.exitCode
      throw fault
    },
  )
  const stop = (): Promise<number> => {
    interrupt()
    return ended
  }
  return { out: () => out, err: () => err, stop, ended }
}

/** Starts copying the calls of a queue of its own. */
async function listening(given: { readonly to?: string; readonly token?: string } = {}) {
  const queue = `copied-${(queues += 1)}`
  const running = run(['--forward', given.to ?? local.url, '--queue', queue], given)
  await until('it listens', async () => {
    if (running.err() !== '') throw new Error(running.err())
    return running.out().includes(`queue ${queue}`)
  })
  return { queue, running }
}

const kept = ({ headers }: Arrival) =>
  Object.fromEntries(Object.entries(headers).filter(([name]) => !OF_CONNECTION.includes(name)))

test.each([
  ['a payload, digits and spaces included', '"payload": {"n":  12345678901234567890.10, "ü": "\\u00fc"}'],
  ['a text', '"body": "two\\nlines ü", "body_encoding": "text"'],
  ['bytes', `"body": "${randomBytes(3000).toString('base64')}", "body_encoding": "base64"`],
  ['no body', '"method": "GET"'],
])('what the target gets arrives here, byte for byte and signed: %s', async (_what, members) => {
  const { queue, running } = await listening()
  const url = `${target.url}/orders/7?tenant=acme`
  const push = `{"queue": "${queue}", "url": "${url}", "headers": {"X-Kept": "1"}, ${members}}`
  const { status, body } = await client.send<{ job_id: number }>('POST', '/api/jobs', push)
  expect(status, JSON.stringify(body)).toBe(201)
  const [copy] = await local.arrived('/orders/7')
  const [call] = target.arrivals('/orders/7')
  expect(copy?.bytes.equals(call?.bytes ?? Buffer.of(0))).toBe(true)
  expect(copy && kept(copy)).toEqual(call && kept(call))
  expect(copy?.headers['x-kept']).toBe('1')
  const verdicts = verify(
    { headers: copy?.headers ?? {}, body: copy?.bytes ?? Buffer.of() },
    { secret, nowMs: Date.now(), ageSecondsMax: 300 },
  )
  expect([verdicts.length, isVerified(verdicts)]).toEqual([2, true])
  await until('it is told', async () => running.out().includes(`job ${body.job_id}, attempt 1`))
  expect(running.out()).toContain('/orders/7?tenant=acme  200 in ')
  expect(await running.stop()).toBe(0)
})

test('a path takes the place of the path of the target; secret headers stay out, and are named', async () => {
  const { queue, running } = await listening({ to: `${local.url}/hooks` })
  const headers = { Authorization: 'Bearer of-the-target', 'X-Api-Key': 'k-123456789' }
  await client.push({ queue, url: `${target.url}/there?a=1`, headers })
  const [copy] = await local.arrived('/hooks')
  expect(copy?.headers['authorization']).toBeUndefined()
  expect(JSON.stringify(copy?.headers)).not.toContain('hidden')
  await until('they are named', async () => running.out().includes('without Authorization, X-Api-Key'))
  expect(target.arrivals('/there')[0]?.headers['authorization']).toBe('Bearer of-the-target')
  await running.stop()
})

test('each attempt is copied once, and calls of other queues and of before are not', async () => {
  const queue = `copied-${(queues += 1)}`
  const { job_id: early } = await client.push({ queue, url: `${target.url}/early` })
  await client.ended(early)
  const running = run(['--forward', local.url, '--queue', queue, '-o', 'json'])
  target.route('/retried', statuses(503, 500, 200))
  await until('it follows', async () => {
    const { job_id: id } = await client.push({ queue, url: `${target.url}/begun` })
    await client.ended(id)
    return running.out() !== ''
  })
  await client.push({ queue: 'another', url: `${target.url}/other` })
  const { job_id: id } = await client.push({ queue, url: `${target.url}/retried`, retry_delays: [1, 1] })
  const copies = await local.arrived('/retried', 3)
  expect(copies.map(({ attempt }) => attempt)).toEqual([1, 2, 3])
  expect((await client.ended(id)).final_status).toBe('success')
  // What comes after it was copied after everything before it.
  await client.push({ queue, url: `${target.url}/last` })
  await local.arrived('/last')
  expect(local.arrivals('/retried')).toHaveLength(3)
  expect([local.arrivals('/early'), local.arrivals('/other')]).toEqual([[], []])
  expect(await running.stop()).toBe(0)
  const lines = running.out().trim().split('\n')
  const told = lines.map((line) => JSON.parse(line) as { url: string; attempt: number; target: string })
  const retried = told.filter(({ url }) => url.endsWith('/retried'))
  expect(retried.map((line) => [line.attempt, line.target])).toEqual([
    [1, '503'],
    [2, '500'],
    [3, '200'],
  ])
}, 60_000)

test('a long body is copied while the job keeps it, and otherwise said to be gone', async () => {
  const { queue, running } = await listening()
  const payload = { long: 'ü'.repeat(MORE_THAN_RECORDED) }
  target.route('/going-on', statuses(503))
  await client.push({ queue, url: `${target.url}/going-on`, payload, retry_delays: [3600] })
  const [copy] = await local.arrived('/going-on')
  expect(copy?.bytes.equals(target.arrivals('/going-on')[0]?.bytes ?? Buffer.of())).toBe(true)
  const { job_id: id } = await client.push({ queue, url: `${target.url}/done`, payload })
  await until('it is said', async () =>
    running.err().includes(`job ${id} is not copied: its body has more than 16 KiB`),
  )
  expect(local.arrivals('/done')).toEqual([])
  await running.stop()
})

test('a slow server here gets a few at once, and no target waits for it', async () => {
  const { queue, running } = await listening()
  const { answering, open } = latch()
  local.route('/slow', answering)
  const pushed = await Promise.all(
    Array.from({ length: 20 }, () => client.push({ queue, url: `${target.url}/slow` })),
  )
  await local.arrived('/slow')
  for (const { job_id: id } of pushed) await client.ended(id)
  expect(target.arrivals('/slow')).toHaveLength(20)
  open()
  await local.arrived('/slow', 20)
  expect(local.mostOpen('/slow')).toBeLessThanOrEqual(8)
  await running.stop()
})

test('a server that is down, or refuses, is told, and the target has its answer all the same', async () => {
  const gone = await startTarget()
  await gone.close()
  const { queue, running } = await listening({ to: gone.url })
  const { job_id: id } = await client.push({ queue, url: `${target.url}/fine` })
  await until('it is told', async () =>
    /job \d+.*connection refused in \d+ ms \(target: 200\)/.test(running.out()),
  )
  expect((await client.ended(id)).final_status).toBe('success')
  expect(await running.stop()).toBe(0)
})

test('an API that was away is asked again, and what ended meanwhile is copied', async () => {
  const { queue, running } = await listening()
  await client.push({ queue, url: `${target.url}/before` })
  await local.arrived('/before')
  way.shut()
  await until('it is told', async () => running.err().includes('trying again'), 30_000)
  const { job_id: id } = await client.push({ queue, url: `${target.url}/meanwhile` })
  await client.ended(id)
  way.open()
  await local.arrived('/meanwhile', 1, 60_000)
  expect(running.err()).toContain('the API answers again')
  expect(local.arrivals('/before')).toHaveLength(1)
  await running.stop()
}, 120_000)

test('a token that is limited to the queue is enough, though it may follow no events', async () => {
  const queue = `copied-${queues + 1}`
  const own = await made<{ token: string }>('/api/tokens', {
    name: 'limited',
    scopes: ['operate'],
    queues: [queue],
  })
  const { running } = await listening({ token: own.token })
  await client.push({ queue, url: `${target.url}/limited` })
  await local.arrived('/limited')
  expect(await running.stop()).toBe(0)
  const other = run(['--forward', local.url, '--queue', 'another'], { token: own.token })
  expect([await other.ended, other.err()]).toEqual([
    4,
    `punctual: This token is limited to the queues ${queue}\n`,
  ])
})

test('who may not see payloads gets no copies', async () => {
  const viewer = await made<{ token: string }>('/api/tokens', { name: 'viewer', scopes: ['read', 'push'] })
  const { ended, err } = run(['--forward', local.url, '--queue', 'first'], { token: viewer.token })
  expect([await ended, err()]).toEqual([
    4,
    'punctual: This needs the permission payloads, which token viewer lacks\n',
  ])
})

test('a right that is taken away ends it', async () => {
  const gone = await made<{ token: string }>('/api/tokens', { name: 'revoked', scopes: ['operate'] })
  const { queue, running } = await listening({ token: gone.token })
  await client.send('DELETE', '/api/tokens/revoked')
  await client.push({ queue, url: `${target.url}/after` })
  expect(await running.ended).toBe(4)
  expect(local.arrivals('/after')).toEqual([])
}, 60_000)
