import { hash } from 'node:crypto'
import { mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { createServer, type AddressInfo } from 'node:net'
import { join } from 'node:path'
import { Redis } from 'ioredis'
import { afterAll, describe, expect, test } from 'vitest'
import type { CreatedCron, CronList } from '../../../clients/typescript/src/generated/wire.ts'
import { createApiClient, type ApiClient } from '../../support/servers/api-client.ts'
import { complaintsAbout, stopProgram } from '../../support/servers/processes.ts'
import { createStandaloneWorld, redisPid } from '../../support/servers/standalone-world.ts'
import { hang, latch } from '../../support/targets/target.ts'
import { until } from '../../support/until.ts'

/** A lease that must run out, and a start on a busy machine. */
const RESCUED_MS = 40_000

const SIGNING = `
apiVersion: punctual.dev/v1alpha1
kind: TeamSettings
metadata: { name: team }
spec:
  signing:
    secretRefs: [{ name: signing, key: current }]
---
apiVersion: v1
kind: Secret
metadata: { name: signing }
type: punctual.dev/signing-secret
stringData: { current: whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw }
`

const TOKEN = 'a-token-of-the-build'

const SHARED = `
apiVersion: punctual.dev/v1alpha1
kind: ApiToken
metadata: { name: build, namespace: other }
spec: { sha256: ${hash('sha256', TOKEN, 'hex')} }
---
apiVersion: punctual.dev/v1alpha1
kind: MaintenanceWindow
metadata: { name: night }
spec: { recurring: [{ cronExpression: 0 1 * * *, durationSeconds: 3600 }] }
`

const PAIR = `
apiVersion: punctual.dev/v1alpha1
kind: HttpQueue
metadata: { name: pair }
spec: { maxParallelism: 2 }
---
apiVersion: punctual.dev/v1alpha1
kind: HttpCron
metadata: { name: hourly }
spec: { url: "https://a.test", cronExpression: 0 * * * *, queue: pair }
`

const { newFolder, newTarget, run, start, close } = createStandaloneWorld()
afterAll(close)

async function expectDone(client: ApiClient, ids: readonly number[]): Promise<void> {
  for (const id of ids) {
    const job = await client.ended(id, RESCUED_MS)
    expect(job).toMatchObject({ final_status: 'success', attempt_number: 1 })
    expect(job.chain).toHaveLength(1)
  }
}

/** Redis puts off a write to its file, by up to two seconds, while the disk is busy with an earlier one. */
async function untilWritten(folder: string): Promise<void> {
  const client = new Redis({ path: join(folder, 'redis', 'redis.sock') })
  const left = async (): Promise<string | undefined> =>
    /^aof_buffer_length:(\d+)/m.exec(await client.info('persistence'))?.[1]
  await until('Redis has written all to its file', async () => (await left()) === '0')
  client.disconnect()
}

describe.concurrent('standalone', () => {
  test('killed mid-flight loses nothing: the next start finds its Redis and every job', async () => {
    const [folder, target] = [newFolder(), await newTarget()]
    const held = latch()
    target.route('/held', (arrival, nth) => (nth === 1 ? held.answering(arrival, nth) : {}))
    const first = await start(folder)
    await first.client.makeQueue('narrow', { max_parallelism: 3 })
    const pushes = await Promise.all(
      Array.from({ length: 40 }, (_, i) =>
        first.client.push({ queue: i % 2 === 0 ? 'narrow' : 'wide', url: `${target.url}/held` }),
      ),
    )
    const later = await first.client.push({ queue: 'wide', url: `${target.url}/later`, delay: 5 })
    await target.arrived('/held', 23)
    first.program.signal('SIGKILL')
    expect(await first.program.exited).toEqual({ code: null, signal: 'SIGKILL' })
    await until('its calls are cut', () => target.openNow() === 0)
    held.open()
    const second = await start(folder)
    await expectDone(
      second.client,
      [...pushes, later].map((job) => job.job_id),
    )
    const byJob = Map.groupBy(target.arrivals('/held'), (arrival) => arrival.jobId)
    expect(byJob.size).toBe(40)
    expect(target.arrivals('/held')).toHaveLength(40 + 23)
    for (const arrivals of byJob.values()) expect(arrivals.length).toBeLessThanOrEqual(2)
    const { queues } = await second.client.queues()
    for (const { counts } of queues) expect(counts).toMatchObject({ pending: 0, processing: 0, dead: 0 })
    expect(await stopProgram(second.program)).toEqual([])
    expect(complaintsAbout(first.program)).toEqual([])
    expect(redisPid(folder)).toBeNull()
  })

  test('killed with its Redis, as a machine dies, loses nothing', async () => {
    const [folder, target] = [newFolder(), await newTarget()]
    target.route('/held', (_arrival, nth) => (nth === 1 ? hang() : {}))
    const first = await start(folder)
    const pushes = await Promise.all(
      Array.from({ length: 20 }, () => first.client.push({ queue: 'work', url: `${target.url}/held` })),
    )
    await target.arrived('/held', 20)
    await untilWritten(folder)
    // Nobody may start Redis again in between.
    first.program.signal('SIGSTOP')
    process.kill(redisPid(folder) ?? 0, 'SIGKILL')
    first.program.signal('SIGKILL')
    await first.program.exited
    const second = await start(folder)
    await expectDone(
      second.client,
      pushes.map((job) => job.job_id),
    )
    expect(target.arrivals('/held')).toHaveLength(40)
    expect(await stopProgram(second.program)).toEqual([])
  })

  test('stops on Ctrl-C: calls get 10 s, the rest is given back, and the next start runs it at once', async () => {
    const [folder, target] = [newFolder(), await newTarget()]
    const held = latch()
    target.route('/ends', held.answering)
    target.route('/hangs', (_arrival, nth) => (nth === 1 ? hang() : {}))
    const first = await start(folder)
    const ends = await first.client.push({ queue: 'work', url: `${target.url}/ends` })
    const hangs = await first.client.push({ queue: 'work', url: `${target.url}/hangs`, timeout_seconds: 300 })
    await target.arrived('/ends')
    await target.arrived('/hangs')
    first.program.signal('SIGINT')
    await first.program.logged('Stopping: no new work is taken, running calls get a moment')
    const stoppedAt = performance.now()
    await until('the intake has stopped', async () => {
      return first.client.push({ queue: 'work', url: `${target.url}/late`, delay: 1 }).then(
        () => false,
        () => true,
      )
    })
    held.open()
    expect(await first.program.exited).toEqual({ code: 0, signal: null })
    expect(performance.now() - stoppedAt).toBeLessThan(20_000)
    expect(complaintsAbout(first.program)).toEqual([])
    expect(redisPid(folder)).toBeNull()
    const second = await start(folder)
    const startedAtMs = Date.now()
    await expectDone(second.client, [ends.job_id, hangs.job_id])
    expect(target.arrivals('/ends')).toHaveLength(1)
    const [, again] = target.arrivals('/hangs')
    // Without waiting for a lease.
    expect((again?.arrivedAtMs ?? Infinity) - startedAtMs).toBeLessThan(10_000)
    expect(await stopProgram(second.program)).toEqual([])
  })

  test('keeps settings, history and waiting jobs over a restart', async () => {
    const [folder, target] = [newFolder(), await newTarget()]
    target.route('/fails', () => ({ status: 500 }))
    const first = await start(folder)
    await first.client.makeQueue('kept', { max_parallelism: 7, retries_enabled: false })
    const done = await first.client.push({ queue: 'kept', url: `${target.url}/ok` })
    const failed = await first.client.push({ queue: 'kept', url: `${target.url}/fails` })
    const waiting = await first.client.push({ queue: 'kept', url: `${target.url}/ok`, delay: 86_400 })
    const paused = await first.client.push({ queue: 'paused', url: `${target.url}/ok`, delay: 1 })
    await first.client.send('POST', `/api/queues/${paused.queue_id}/pause`)
    await first.client.ended(done.job_id)
    await first.client.ended(failed.job_id)
    const ids = [done, failed, waiting].map((job) => job.job_id)
    const before = await Promise.all(ids.map((id) => first.client.job(id)))
    expect(await stopProgram(first.program)).toEqual([])
    const second = await start(folder)
    expect(await Promise.all(ids.map((id) => second.client.job(id)))).toEqual(before)
    expect(await second.client.queueNamed('kept')).toMatchObject({
      max_parallelism: 7,
      counts: { delayed: 1 },
    })
    expect(await second.client.queueNamed('paused')).toMatchObject({ is_active: false })
    await second.client.send('POST', `/api/queues/${paused.queue_id}/resume`)
    await expectDone(second.client, [paused.job_id])
    const fresh = await second.client.push({ queue: 'kept', url: `${target.url}/ok` })
    expect(ids).not.toContain(fresh.job_id)
    expect(await stopProgram(second.program)).toEqual([])
  })

  test('whose key file was removed makes a new one and seals the secrets of the folder anew', async () => {
    const [folder, target] = [newFolder(), await newTarget()]
    mkdirSync(join(folder, 'resources'))
    writeFileSync(join(folder, 'resources', 'team.yaml'), SIGNING)
    const first = await start(folder)
    expect(await stopProgram(first.program)).toEqual([])
    rmSync(join(folder, 'key'))
    const second = await start(folder)
    const job = await second.client.push({ queue: 'signed', url: `${target.url}/signed` })
    await expectDone(second.client, [job.job_id])
    expect(target.arrivals('/signed')[0]?.headers['webhook-signature']).toMatch(/^v1,/)
    expect(await stopProgram(second.program)).toEqual([])
  })

  test('takes the token of an ApiToken while it is there, and says what the folder has changed', async () => {
    const folder = newFolder()
    mkdirSync(join(folder, 'resources'))
    const file = join(folder, 'resources', 'shared.yaml')
    writeFileSync(file, SHARED)
    const program = run(folder)
    const { url } = await program.logged('Standalone runs')
    const build = createApiClient(String(url), TOKEN)
    expect((await build.queues()).queues).toEqual([])
    rmSync(file)
    await until('the token is refused', async () => (await build.send('GET', '/api/queues')).status === 401)
    expect(await program.logged('Resources of removed manifests are deleted')).toMatchObject({
      what: 'ApiToken build; maintenance window night',
    })
    const pair = join(folder, 'resources', 'pair.yaml')
    writeFileSync(pair, PAIR)
    expect(await program.logged('Changed manifests are applied')).toMatchObject({
      what: 'queue pair; cron hourly',
    })
    const after = program.log.length
    rmSync(pair)
    expect(await program.logged('Resources of removed manifests are deleted', { after })).toMatchObject({
      what: 'cron hourly; queue pair, with all its jobs',
    })
    expect(await stopProgram(program)).toEqual([])
  })

  test('runs crons of its folder and of its API, and keeps both as files', async () => {
    const target = await newTarget()
    const folder = newFolder()
    mkdirSync(join(folder, 'resources'))
    const manifest = `apiVersion: punctual.dev/v1alpha1\nkind: HttpCron\nmetadata: { name: hourly }\nspec: { url: "${target.url}/hourly", cronExpression: 0 * * * * }\n`
    writeFileSync(join(folder, 'resources', 'hourly.yaml'), manifest)
    const first = await start(folder)
    const crons = async (client: ApiClient) =>
      (await client.send<CronList>('GET', '/api/crons')).body.crons.map(({ name, id }) => ({ name, id }))
    const [hourly] = await crons(first.client)
    expect(hourly).toMatchObject({ name: 'hourly' })
    const make = (client: ApiClient) => {
      const body = { name: 'Made', url: `${target.url}/made`, cron_expression: '0 0 1 1 *' }
      return client.send<CreatedCron>('POST', '/api/crons', body, { 'idempotency-key': 'made-once' })
    }
    const [made, repeated] = await Promise.all([make(first.client), make(first.client)])
    expect(made).toMatchObject({ status: 201 })
    expect(repeated.body).toEqual(made.body)
    for (const id of [hourly?.id, made.body.id]) {
      expect(await first.client.send('POST', `/api/crons/${id}/run`)).toMatchObject({ status: 201 })
    }
    await Promise.all([target.arrived('/hourly'), target.arrived('/made')])
    const path = `/api/crons/${hourly?.id}`
    expect(await first.client.send('PATCH', path, { name: 'Each hour' })).toMatchObject({ status: 200 })
    expect(readFileSync(join(folder, 'resources', 'hourly.yaml'), 'utf8')).toContain('displayName: Each hour')
    const headers = Object.fromEntries(Array.from({ length: 40 }, (_, i) => [`X-${i}`, 'v'.repeat(8_000)]))
    // Legal, and too large for a manifest.
    const large = { name: 'Large', url: target.url, cron_expression: '0 3 * * *', headers }
    expect(
      await first.client.send('POST', '/api/crons', { ...large, payload: 'a\n'.repeat(131_072) }),
    ).toMatchObject({
      status: 409,
      body: { error: expect.stringMatching(/ would have 1\d{6} bytes; at most 1048576 are allowed\.$/) },
    })
    expect(await stopProgram(first.program)).toEqual([])

    const second = await start(folder)
    const before = await crons(second.client)
    expect(before.toSorted((a, b) => (a.name < b.name ? -1 : 1))).toEqual([
      { name: 'Each hour', id: hourly?.id },
      { name: 'Made', id: made.body.id },
    ])
    expect((await make(second.client)).body).toEqual(made.body)
    expect((await second.client.send('DELETE', `/api/crons/${made.body.id}`)).status).toBe(204)
    expect(readdirSync(join(folder, 'resources')).filter((name) => name.startsWith('made-'))).toEqual([])
    rmSync(join(folder, 'resources', 'hourly.yaml'))
    await until('the cron is gone', async () => (await crons(second.client)).length === 0)
    expect(await stopProgram(second.program)).toEqual([])
  })

  test.each(['0.0.0.0', '*'])(
    'on %s greets with an address that can be called, and shows its first job',
    async (host) => {
      const folder = newFolder()
      const program = run(folder, { PUNCTUAL_HOST: host, PUNCTUAL_LOG_FORMAT: 'text' })
      const said = () => program.strayLines.join('\n')
      await until('the first job has ended', () => said().includes('attempt 3: completed'), 60_000)
      const [, url = ''] = /Punctual runs on (http:\/\/127\.0\.0\.1:\d+)$/m.exec(said()) ?? []
      expect(url).not.toBe('')
      // The example failed on purpose: nobody has to look after its issue.
      const client = createApiClient(url, readFileSync(join(folder, 'token'), 'utf8').trim())
      const issues = async (state: string) =>
        (await client.send<{ issues: object[] }>('GET', `/api/issues?state=${state}`)).body.issues
      await until('its issue is resolved', async () => (await issues('resolved')).length === 1)
      expect(await issues('open')).toEqual([])
      expect(said()).not.toContain('Jobs may call public addresses only')
      program.signal('SIGINT')
      expect(await program.exited).toEqual({ code: 0, signal: null })
    },
  )

  test('without a terminal logs nothing but JSON: no greeting, no token, and where the token is', async () => {
    const folder = newFolder()
    const program = run(folder, { PUNCTUAL_LOG_FORMAT: 'auto' })
    const line = await program.logged('Standalone runs')
    expect(line).toMatchObject({ tokenFile: join(folder, 'token') })
    const token = readFileSync(String(line['tokenFile']), 'utf8').trim()
    const { status } = await createApiClient(String(line['url']), token).send('GET', '/api/queues')
    expect(status).toBe(200)
    // Text among the lines is a complaint too.
    expect(await stopProgram(program)).toEqual([])
    expect(JSON.stringify(program.log)).not.toContain(token)
  })

  test('refuses a data folder that is in use, and a port that is taken, in one line', async () => {
    const folder = newFolder()
    const { program, client } = await start(folder)
    const second = run(folder)
    expect(await second.exited).toEqual({ code: 2, signal: null })
    expect(second.errorLines).toEqual([
      expect.stringContaining(`The data folder ${folder} is in use by process ${program.pid} at http://`),
    ])
    const taken = createServer()
    await new Promise<void>((resolve) => taken.listen(0, '127.0.0.1', resolve))
    const { port } = taken.address() as AddressInfo
    for (const variable of ['PUNCTUAL_PORT', 'PUNCTUAL_OPS_PORT']) {
      const elsewhere = newFolder()
      const third = run(elsewhere, { [variable]: String(port) })
      expect(await third.exited, variable).toEqual({ code: 2, signal: null })
      expect(third.errorLines, variable).toEqual([
        expect.stringMatching(new RegExp(`^punctual: Port ${port} .* set ${variable}`)),
      ])
      // What had started is stopped again.
      expect(redisPid(elsewhere)).toBeNull()
    }
    await new Promise((resolve) => taken.close(resolve))
    expect((await client.send('GET', '/api/queues')).status).toBe(200)
    expect(await stopProgram(program)).toEqual([])
  })

  test('refuses a folder of manifests that is none, or another one, in one line and without samples', async () => {
    const folder = newFolder()
    const [file, other] = [join(folder, 'file'), join(folder, 'other')]
    writeFileSync(file, '')
    const refusals = [
      [file, `punctual: The manifest folder ${file} cannot be used (`],
      [join(file, 'below'), `punctual: The manifest folder ${file}/below cannot be used (`],
      [other, `punctual: The folder ${other} (store `],
    ] as const
    const { program } = await start(folder)
    expect(await stopProgram(program)).toEqual([])
    for (const [manifests, text] of refusals) {
      const refused = run(folder, { PUNCTUAL_RESOURCES: manifests })
      expect(await refused.exited, manifests).toEqual({ code: 2, signal: null })
      expect(refused.errorLines, manifests).toEqual([expect.stringContaining(text)])
    }
    expect(readdirSync(other)).toEqual(['.punctual-store'])
  })

  test.for(['SIGKILL', 'SIGSTOP'] as const)('goes on after its Redis got a %s', async (signal) => {
    const [folder, target] = [newFolder(), await newTarget()]
    const held = latch()
    target.route('/held', (arrival, nth) => (nth === 1 ? held.answering(arrival, nth) : {}))
    const { program, client } = await start(folder)
    const pushes = await Promise.all(
      Array.from({ length: 20 }, () => client.push({ queue: 'work', url: `${target.url}/held` })),
    )
    await target.arrived('/held', 20)
    await untilWritten(folder)
    const pid = redisPid(folder) ?? 0
    process.kill(pid, signal)
    if (signal === 'SIGSTOP') {
      const refused = await client.send('POST', '/api/jobs', { queue: 'work', url: `${target.url}/x` })
      expect(refused.status).toBe(503)
      process.kill(pid, 'SIGCONT')
    }
    held.open()
    await until(
      'the API is back',
      async () => (await client.send('GET', '/api/queues')).status === 200,
      RESCUED_MS,
    )
    const after = await client.push({ queue: 'work', url: `${target.url}/after` })
    await expectDone(
      client,
      [...pushes, after].map((job) => job.job_id),
    )
    expect(target.arrivals('/held').length).toBeLessThanOrEqual(40)
    if (signal === 'SIGKILL') expect(redisPid(folder)).not.toBe(pid)
    expect(await stopProgram(program, { errors: ['Redis exited and is restarted'] })).toEqual([])
    expect(redisPid(folder)).toBeNull()
  })
})
