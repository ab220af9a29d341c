import { afterEach, expect, test } from 'vitest'
import { StartupError } from '../../../src/domain/errors.ts'
import { OpsServer, type ReadinessCheck } from '../../../src/telemetry/ops-server.ts'
import { LOOPBACKS } from '../../support/targets/all-addresses.ts'

const opened: OpsServer[] = []

afterEach(async () => {
  await Promise.all(opened.splice(0).map((server) => server.stop()))
})

function make(checks: readonly ReadinessCheck[] = [], port = 0, host = '127.0.0.1'): OpsServer {
  const renderMetrics = async () => ({ contentType: 'text/plain; version=0.0.4', body: 'punctual_up 1\n' })
  const server = new OpsServer({ host, port, checks, renderMetrics })
  opened.push(server)
  return server
}

async function ask(port: number, path: string, method = 'GET') {
  const response = await fetch(`http://127.0.0.1:${port}${path}`, { method })
  return { status: response.status, body: await response.text(), headers: response.headers }
}

test('health, metrics, unknown paths and methods', async () => {
  const port = await make().start()
  expect(await ask(port, '/healthz?x=1')).toMatchObject({ status: 200, body: 'ok\n' })
  expect(await ask(port, '/metrics')).toMatchObject({ status: 200, body: 'punctual_up 1\n' })
  expect(await ask(port, '/healthz', 'HEAD')).toMatchObject({ status: 200, body: '' })
  expect((await ask(port, '/other')).status).toBe(404)
  const refused = await ask(port, '/metrics', 'POST')
  expect(refused.status).toBe(405)
  expect(refused.headers.get('allow')).toBe('GET, HEAD')
})

test.for(LOOPBACKS)('on all addresses it is reached at $host', async ({ host, obstacle }, { skip }) => {
  skip(obstacle !== null, obstacle ?? '')
  const port = await make([], 0, '*').start()
  expect((await fetch(`http://${host}:${port}/healthz`)).status).toBe(200)
  await expect(make([], port, '*').start()).rejects.toThrow(`Port ${port} on * is taken`)
})

test('health fails with its reason when the process must be started anew', async () => {
  const stuck = { reason: null as string | null }
  const server = new OpsServer({
    host: '127.0.0.1',
    port: 0,
    checks: [],
    lifeChecks: [{ name: 'leading', failure: () => stuck.reason }],
    renderMetrics: async () => ({ contentType: 'text/plain', body: '' }),
  })
  opened.push(server)
  const port = await server.start()
  expect(await ask(port, '/healthz')).toMatchObject({ status: 200, body: 'ok\n' })
  stuck.reason = 'work does not end'
  expect(await ask(port, '/healthz')).toMatchObject({ status: 503, body: 'work does not end\n' })
})

test('ready only when every check is, and the answer names the one that is not', async () => {
  const down = { reason: null as string | null }
  const port = await make([
    { name: 'redis', failure: () => down.reason },
    { name: 'settings', failure: async () => null },
  ]).start()
  expect(await ask(port, '/readyz')).toMatchObject({
    status: 200,
    body: '{"status":"ready","checks":{"redis":"ok","settings":"ok"}}\n',
  })
  down.reason = 'not connected'
  expect(await ask(port, '/readyz')).toMatchObject({
    status: 503,
    body: '{"status":"not_ready","checks":{"redis":"not connected","settings":"ok"}}\n',
  })
})

test('a check that throws or hangs is a failed check, not a hanging probe', async () => {
  const port = await make([
    { name: 'throws', failure: () => Promise.reject(new Error('redis://u:hunter2@host is gone')) },
    { name: 'hangs', failure: () => new Promise<null>(() => {}) },
  ]).start()
  const answer = await ask(port, '/readyz')
  expect(answer.status).toBe(503)
  expect(JSON.parse(answer.body).checks).toEqual({
    throws: 'redis://host is gone',
    hangs: 'no answer within 800 ms',
  })
})

test('start and stop may be repeated, and stop may come first', async () => {
  const server = make()
  const port = await server.start()
  expect(await server.start()).toBe(port)
  await Promise.all([server.stop(), server.stop()])
  await expect(ask(port, '/healthz')).rejects.toThrow('fetch failed')
  await expect(server.start()).rejects.toThrow('stopped')
  const never = make()
  await never.stop()
  await expect(never.start()).rejects.toThrow('stopped')
})

test('stop during start leaves nothing open', async () => {
  const server = make()
  const starting = server.start()
  await server.stop()
  await expect(ask(await starting, '/healthz')).rejects.toThrow('fetch failed')
})

test('a taken port is a startup error that names the place and the variable', async () => {
  const port = await make().start()
  const failed = make([], port).start()
  await expect(failed).rejects.toThrow(StartupError)
  await expect(failed).rejects.toThrow(
    `Port ${port} on 127.0.0.1 is taken: stop what listens there, or set PUNCTUAL_OPS_PORT to another.`,
  )
})
