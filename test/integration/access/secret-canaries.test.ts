import { createHmac, randomBytes } from 'node:crypto'
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import type { Cron, CronList, Job } from '../../../clients/typescript/src/generated/wire.ts'
import { DEFAULT_CRON_SETTINGS, type CronSettings } from '../../../src/domain/crons/cron.ts'
import { secretTypeOf } from '../../../src/domain/secrets/secret-use.ts'
import { secretValueText } from '../../../src/domain/secrets/secret-values.ts'
import { NO_OWN_SECRETS } from '../../../src/ports/access/own-secrets.ts'
import { newCronSpec } from '../../../src/resources/manifests/cron-manifest.ts'
import type { Arrival } from '../../support/targets/target.ts'
import { keysWith } from '../../support/redis/keys-with.ts'
import { until } from '../../support/until.ts'
import { startInstallation, type Installation } from '../../support/engine/installation.ts'

let here: Installation
/** Every answer of the API. */
const answers: string[] = []

beforeAll(async () => {
  here = await startInstallation()
  // A target that repeats what it got, as echoes and faults do.
  here.target.route('/echo', ({ headers, body }) => ({
    status: 500,
    headers: { 'set-cookie': `session=${headers['cookie'] ?? ''}`, 'x-echo': headers['authorization'] ?? '' },
    body: JSON.stringify({ headers, body }),
  }))
})
afterAll(() => here.close())

const canary = (name: string) => `canary-${name}-${randomBytes(8).toString('hex')}`

async function send<T>(method: string, path: string, body?: unknown): Promise<T> {
  const answer = await here.client.send<T>(method, path, body)
  answers.push(JSON.stringify(answer.body))
  expect(answer.status, `${method} ${path}: ${JSON.stringify(answer.body)}`).toBeLessThan(300)
  return answer.body
}

/** Where somebody who may read all there is finds a text. */
async function findersOf(text: string): Promise<string[]> {
  const logs = [here.api.program, ...here.executors].flatMap(({ log }) =>
    log.map((line) => JSON.stringify(line)),
  )
  return [
    ...answers.filter((answer) => answer.includes(text)).map((answer) => `answer ${answer}`),
    ...logs.filter((line) => line.includes(text)).map((line) => `log ${line}`),
  ]
}

describe('headers that let somebody in', () => {
  const bearer = canary('bearer')
  const cookie = canary('cookie')
  const headers = { Authorization: `Bearer ${bearer}`, Cookie: `id=${cookie}`, Accept: 'text/plain' }
  const HIDDEN = { Authorization: '(hidden)', Cookie: '(hidden)', Accept: 'text/plain' }

  test('of a job reach the target, and are shown nowhere', async () => {
    const url = `${here.target.url}/echo`
    const pushed = await send<{ job_id: number }>('POST', '/api/jobs', {
      queue: 'q',
      url,
      headers,
      retries_enabled: false,
    })
    await here.client.ended(pushed.job_id)
    const job = await send<{ headers: object; calls: Array<{ request: object; response: object }> }>(
      'GET',
      `/api/jobs/${pushed.job_id}`,
    )
    expect(here.target.arrivals('/echo')[0]?.headers).toMatchObject({
      authorization: `Bearer ${bearer}`,
      cookie: `id=${cookie}`,
    })
    expect(job.headers).toEqual(HIDDEN)
    expect(JSON.stringify(job.calls[0]?.response)).toContain('(hidden)')
    await send('GET', '/api/jobs?limit=10')
    expect([...(await findersOf(bearer)), ...(await findersOf(cookie))]).toEqual([])
    // What is at rest of a call that is over.
    const records = await here.redis.client.keys('punctual:*:c:*')
    const dumps = await Promise.all(records.map((key) => here.redis.client.dump(key)))
    expect(records.length).toBeGreaterThan(0)
    expect(dumps.join()).not.toContain(bearer)
  })

  test('of a job are sent by its copy, whose body has the mask in their place', async () => {
    const url = `${here.target.url}/copy`
    const first = await send<{ job_id: number }>('POST', '/api/jobs', { queue: 'q', url, headers })
    await here.client.ended(first.job_id)
    const change = { headers: { ...HIDDEN, Accept: '*/*' } }
    const copy = await send<{ job_id: number }>('POST', `/api/jobs/${first.job_id}/duplicate`, change)
    await here.client.ended(copy.job_id)
    expect(here.target.arrivals('/copy')[1]?.headers).toMatchObject({
      authorization: `Bearer ${bearer}`,
      cookie: `id=${cookie}`,
      accept: '*/*',
    })
    here.target.route('/dead', () => ({ status: 500 }))
    const dead = await send<{ job_id: number }>('POST', '/api/jobs', {
      queue: 'q',
      url: `${here.target.url}/dead`,
      headers,
      retry_delays: [1],
    })
    await here.client.ended(dead.job_id)
    const wrong = await here.client.send('POST', `/api/jobs/${dead.job_id}/duplicate`, {
      headers: { 'X-Other': '(hidden)' },
    })
    expect(wrong).toMatchObject({
      status: 422,
      body: { errors: { 'headers.X-Other': [expect.stringContaining('cannot be kept')] } },
    })
    const again = await send<{ job_id: number }>('POST', `/api/jobs/${dead.job_id}/replay`, change)
    await here.client.ended(again.job_id)
    expect(here.target.arrivals('/dead').at(-1)?.headers).toMatchObject({
      authorization: `Bearer ${bearer}`,
      cookie: `id=${cookie}`,
      accept: '*/*',
    })
    expect(await findersOf(bearer)).toEqual([])
  })

  test('of a cron stay through an edit that gives back what was shown', async () => {
    const made = await send<{ id: number }>('POST', '/api/crons', {
      name: 'nightly',
      url: `${here.target.url}/cron`,
      cron_expression: '0 0 1 1 *',
      headers,
    })
    const shown = await send<Cron>('GET', `/api/crons/${made.id}`)
    expect(shown.headers).toEqual(HIDDEN)
    await send('PATCH', `/api/crons/${made.id}`, { headers: shown.headers, name: 'other' })
    await send('GET', '/api/crons')
    await send('GET', `/api/crons/${made.id}/manifest`)
    await send('POST', `/api/crons/${made.id}/run`)
    const [arrival] = await here.target.arrived('/cron')
    expect(arrival?.headers).toMatchObject({ authorization: `Bearer ${bearer}`, cookie: `id=${cookie}` })
    const refused = await here.client.send('PATCH', `/api/crons/${made.id}`, {
      headers: { 'X-New': '(hidden)' },
    })
    expect(refused.status).toBe(422)
    await send('GET', '/api/audit')
    expect([...(await findersOf(bearer)), ...(await findersOf(cookie))]).toEqual([])
  })

  test('go to no other host: a copy and an edit must give them anew', async () => {
    here.target.route('/mine', () => ({ status: 500 }))
    const url = `${here.target.url}/mine`
    const elsewhere = `${here.target.url.replace('127.0.0.1', 'localhost')}/theirs`
    const dead = await send<{ job_id: number }>('POST', '/api/jobs', {
      queue: 'q',
      url,
      headers,
      retry_delays: [1],
    })
    await here.client.ended(dead.job_id)
    const made = await send<{ id: number }>('POST', '/api/crons', {
      name: 'mine',
      url,
      cron_expression: '0 0 1 1 *',
      headers,
    })
    const paths = [
      ['POST', `/api/jobs/${dead.job_id}/duplicate`],
      ['POST', `/api/jobs/${dead.job_id}/replay`],
      ['PATCH', `/api/crons/${made.id}`],
    ] as const
    for (const [method, path] of paths) {
      for (const change of [{ url: elsewhere }, { url: elsewhere, headers: HIDDEN }]) {
        const refused = await here.client.send<{ errors: object }>(method, path, change)
        expect(refused.status, path).toBe(422)
        expect(refused.body.errors, path).toEqual({
          'headers.Authorization': [expect.stringContaining('must be given again')],
          'headers.Cookie': [expect.stringContaining('must be given again')],
        })
      }
    }
    for (const [method, path] of paths) {
      const given = { Authorization: 'Bearer of-my-own', Accept: '(hidden)' }
      await send(method, path, { url: elsewhere, headers: given })
    }
    await send('POST', `/api/crons/${made.id}/run`)
    const arrivals = await until('all have arrived', () => {
      const found = here.target.arrivals('/theirs')
      return Promise.resolve(found.length === 3 ? found : null)
    })
    for (const arrival of arrivals) {
      expect(arrival.headers).toMatchObject({ authorization: 'Bearer of-my-own', accept: 'text/plain' })
      expect(arrival.headers).not.toHaveProperty('cookie')
    }
    expect([...(await findersOf(bearer)), ...(await findersOf(cookie))]).toEqual([])
  })

  test('cannot be pushed as the mask', async () => {
    const push = { queue: 'q', url: here.target.url, headers: { Authorization: '(hidden)' } }
    expect(await here.client.send('POST', '/api/jobs', push)).toMatchObject({
      status: 422,
      body: { errors: { 'headers.Authorization': [expect.stringContaining('the real value')] } },
    })
  })
})

describe('values of Secrets that a cron names', () => {
  const value = canary('partner')
  const own = `${canary('signing')}-of-its-own`
  const ofTeam = `${canary('team')}-signs-all-others`
  const queueOwn = `${canary('queue')}-signs-one-queue`
  const from = secretValueText({ cron: 'report', secret: 'partner', key: 'token' })
  const settings = (path: string): CronSettings => ({
    ...DEFAULT_CRON_SETTINGS,
    displayName: 'report',
    cronExpression: '0 0 1 1 *',
    url: `${here.target.url}${path}`,
    headers: { 'X-Partner': from, Accept: 'text/plain' },
    signer: 'report',
  })
  const specOfReport = (path: string) => ({
    ...newCronSpec({ ...settings(path), signer: null }),
    signing: { secretRefs: [{ name: 'report-signing', key: 'current' }] },
  })
  /** Puts manifests into the folder of the API; answers the id of their cron once it is in force. */
  const applyReport = async (
    manifests: ReadonlyArray<{ kind: string; name: string; [field: string]: unknown }>,
  ): Promise<number> => {
    const folder = here.env['PUNCTUAL_RESOURCES'] ?? ''
    for (const { kind, name, ...rest } of manifests) {
      const apiVersion = kind === 'Secret' ? 'v1' : 'punctual.dev/v1alpha1'
      const text = JSON.stringify({ apiVersion, kind, metadata: { name }, ...rest })
      writeFileSync(join(folder, `${kind}-${name}.json`), text)
    }
    return until('the cron is in force', async () => {
      const { crons } = await send<CronList>('GET', '/api/crons')
      return crons.find(({ name }) => name === 'report')?.id ?? null
    })
  }
  const signature = ({ headers, body }: Arrival, secret: string) =>
    createHmac('sha256', secret)
      .update(`${headers['x-punctual-timestamp'] ?? ''}.${body}`)
      .digest('hex')
  const run = async (id: number): Promise<Job> => {
    const made = await send<{ job_id: number }>('POST', `/api/crons/${id}/run`)
    await here.client.ended(made.job_id)
    return send<Job>('GET', `/api/jobs/${made.job_id}`)
  }
  const cron = { team: 'default', kind: 'cron', name: 'report' } as const

  test('reach its target alone, sign its calls, and are found nowhere', async () => {
    here.target.route('/report', ({ headers }) => ({
      status: 500,
      headers: { 'x-echo': headers['x-partner'] ?? '' },
      body: `you sent ${headers['x-partner']}`,
    }))
    await here.withCompiler(async (compiler) => {
      await compiler.putTeam('default', { egressAllow: [], signingSecrets: [ofTeam] })
      const queue = { team: 'default', kind: 'queue', name: 'signed' } as const
      await compiler.putOwnSecrets(queue, {
        signingSecrets: [queueOwn],
        signingSecretRefs: [],
        headerValues: {},
      })
    })
    // Only what has a resource can be edited.
    const cronId = await applyReport([
      { kind: 'HttpCron', name: 'report', spec: specOfReport('/report') },
      { kind: 'Secret', name: 'partner', type: secretTypeOf('header'), stringData: { token: value } },
      { kind: 'Secret', name: 'report-signing', type: secretTypeOf('signing'), stringData: { current: own } },
    ])
    await until('the executor knows them', async () => {
      await run(cronId)
      return here.target.arrivals('/report').some((arrival) => arrival.headers['x-partner'] === value)
    })
    const job = await run(cronId)
    const arrival = here.target.arrivals('/report').at(-1) as Arrival
    expect(arrival.headers).toMatchObject({
      'x-partner': value,
      'x-punctual-signature': signature(arrival, own),
    })
    expect(job.headers).toEqual({ 'X-Partner': '(hidden)', Accept: 'text/plain' })
    expect(job.calls[0]?.request.headers).toContainEqual({ name: 'X-Partner', value: '(hidden)' })
    expect(job.calls[0]?.response).toMatchObject({ body: 'you sent (hidden)' })
    // Whoever may change the cron cannot read it that way, and what is given back keeps it.
    const shown = await send<Cron>('GET', `/api/crons/${cronId}`)
    expect(shown.headers).toEqual({ 'X-Partner': '(hidden)', Accept: 'text/plain' })
    await send('PATCH', `/api/crons/${cronId}`, { headers: shown.headers, timeout_seconds: 7 })
    expect(await send('GET', `/api/crons/${cronId}`)).toMatchObject({ timeout_seconds: 7 })
    await run(cronId)
    expect(here.target.arrivals('/report').at(-1)?.headers['x-partner']).toBe(value)
    const elsewhere = here.target.url.replace('127.0.0.1', 'localhost')
    for (const [path, change] of [
      [`/api/crons/${cronId}`, { url: elsewhere }],
      [`/api/jobs/${job.job_id}/duplicate`, { url: elsewhere, queue: 'plain' }],
    ] as const) {
      const method = path.startsWith('/api/crons') ? 'PATCH' : 'POST'
      expect(await here.client.send(method, path, change)).toMatchObject({
        status: 422,
        body: { errors: { 'headers.X-Partner': [expect.stringContaining('must be given again')] } },
      })
    }
    // Another receiver of the team, and one with a queue of its own.
    for (const [queue, secret] of [
      ['plain', ofTeam],
      ['signed', queueOwn],
    ] as const) {
      const pushed = await here.client.push({ queue, url: `${here.target.url}/${queue}` })
      await here.client.ended(pushed.job_id)
      const [called] = here.target.arrivals(`/${queue}`) as [Arrival]
      expect(called.headers['x-punctual-signature'], queue).toBe(signature(called, secret))
    }
    await send('GET', '/api/audit')
    for (const secret of [value, own, ofTeam, queueOwn]) {
      expect([...(await findersOf(secret)), ...(await keysWith(here.redis.client, secret))]).toEqual([])
    }
  })

  test('that are not there fail the call, which is not made', async () => {
    const removed = await here.withCompiler(async (compiler) => {
      await compiler.putOwnSecrets(cron, { signingSecrets: [], signingSecretRefs: [], headerValues: {} })
      return (await compiler.applyCron('default', 'report', settings('/gone'))) as { cronId: number }
    })
    const failed = await until('they are gone', async () => {
      const job = await run(removed.cronId)
      return job.failure_reason === 'unknown' ? job : null
    })
    expect(failed).toMatchObject({ error_message: 'The signing secrets of this job cannot be read.' })
    const elsewhere = here.target.url.replace('127.0.0.1', 'localhost')
    await here.withCompiler(async (compiler) => {
      const own = {
        signingSecrets: [],
        signingSecretRefs: [],
        headerValues: { 'x-partner': value },
        headerOrigin: elsewhere,
      }
      await compiler.putOwnSecrets(cron, own)
      await compiler.applyCron('default', 'report', { ...settings('/other'), signer: null })
    })
    await until('its origin is another', async () => {
      const { error_message } = await run(removed.cronId)
      return error_message === 'The value of header X-Partner is not sent: cron report calls another origin.'
    })
    await here.withCompiler((compiler) => compiler.putOwnSecrets(cron, NO_OWN_SECRETS))
    await until('they are gone', async () => {
      const { error_message } = await run(removed.cronId)
      return error_message?.includes('is not there') === true
    })
    expect(await run(removed.cronId)).toMatchObject({
      failure_reason: 'unknown',
      error_message: 'The value of header X-Partner is not there: key token of Secret partner.',
    })
    expect(here.target.arrivals('/other')).toEqual([])
  })
})

describe('header secrets of a team', () => {
  const former = canary('former')
  const value = canary('header')
  const hostOf = () => new URL(here.target.url).host
  const declare = (hosts: readonly string[], text: string | null) =>
    here.withCompiler((compiler) =>
      compiler.putTeam('default', {
        egressAllow: [],
        signingSecrets: [],
        headerSecrets: [{ name: 'partner', hosts, value: text === null ? null : `Bearer ${text}` }],
      }),
    )
  const known = (hosts: readonly string[]) =>
    until('the API knows it', async () => {
      const team = await send<{ header_secrets: Array<{ hosts: readonly string[] }> }>('GET', '/api/team')
      return team.header_secrets[0]?.hosts.join() === hosts.join()
    })
  const push = (path: string, fields: object = {}) =>
    send<{ job_id: number }>('POST', '/api/jobs', {
      queue: 'partners',
      url: `${here.target.url}${path}`,
      header_secrets: { Authorization: 'partner' },
      ...fields,
    })
  const ended = async ({ job_id: id }: { job_id: number }): Promise<Job> => {
    await here.client.ended(id)
    return send<Job>('GET', `/api/jobs/${id}`)
  }
  /** Until an executor knows what is declared. */
  const called = (path: string, text: string) =>
    until('an executor sends it', async () => {
      await ended(await push(path, { retries_enabled: false }))
      return here.target.arrivals(path).at(-1)?.headers['authorization'] === `Bearer ${text}`
    })

  test('reach the targets that they may go to, and are found nowhere', async () => {
    await declare([hostOf()], former)
    await known([hostOf()])
    await called('/echo', former)
    const job = await ended(await push('/echo', { retries_enabled: false, headers: { Accept: 'a/b' } }))
    expect(job).toMatchObject({ headers: { Accept: 'a/b' }, header_secrets: { Authorization: 'partner' } })
    expect(job.calls[0]?.request.headers).toContainEqual({ name: 'Authorization', value: '(hidden)' })
    expect(JSON.stringify(job.calls[0]?.response)).toContain('(hidden)')
    const batch = { jobs: [{ queue: 'partners', url: `${here.target.url}/batch` }] }
    const named = batch.jobs.map((one) => ({ ...one, header_secrets: { 'X-Key': 'partner' } }))
    await send('POST', '/api/jobs/batch', { jobs: named })
    const [arrival] = await here.target.arrived('/batch')
    expect(arrival?.headers['x-key']).toBe(`Bearer ${former}`)
  })

  test('may be given back as they were shown, to a copy too, and may not go elsewhere', async () => {
    const first = await ended(await push('/copy-of', { headers: { Cookie: `id=${canary('cookie')}` } }))
    const { headers, header_secrets } = first
    const path = `/api/jobs/${first.job_id}/duplicate`
    await ended(await send<{ job_id: number }>('POST', path, { headers, header_secrets }))
    await ended(await send<{ job_id: number }>('POST', path))
    expect(here.target.arrivals('/copy-of').map((arrival) => arrival.headers['authorization'])).toEqual(
      Array.from({ length: 3 }, () => `Bearer ${former}`),
    )
    const elsewhere = here.target.url.replace('127.0.0.1', 'localhost')
    const field = 'header_secrets.Authorization'
    const bad = { queue: 'partners', url: elsewhere, header_secrets: { Authorization: 'partner' } }
    for (const [to, body] of [
      ['/api/jobs', bad],
      [path, { url: elsewhere, headers: {} }],
      [path, { header_secrets: { Authorization: 'other' } }],
    ] as const) {
      const answer = await here.client.send<{ errors: object }>('POST', to, body)
      expect([to, answer.status, Object.keys(answer.body.errors)]).toEqual([to, 422, [field]])
    }
  })

  test('are not carried along by a redirect', async () => {
    const url = `${here.target.url.replace('127.0.0.1', 'localhost')}/stolen`
    here.target.route('/moved', () => ({ status: 307, headers: { location: url } }))
    const job = await ended(await push('/moved', { retries_enabled: false }))
    expect(job.failure_reason).toBe('http_redirect')
    expect(here.target.arrivals('/moved')).toHaveLength(1)
    expect(here.target.arrivals('/stolen')).toEqual([])
  })

  test('that have changed are sent by the next attempt', async () => {
    here.target.route('/rotated', ({ headers }) => ({
      status: headers['authorization'] === `Bearer ${value}` ? 200 : 401,
    }))
    const retried = await push('/rotated', { retry_delays: [2, 2, 2, 2] })
    await here.target.arrived('/rotated')
    await declare([hostOf()], value)
    expect(await ended(retried)).toMatchObject({ status: 'failed', final_status: 'success' })
    const sent = here.target.arrivals('/rotated').map((arrival) => arrival.headers['authorization'])
    expect([sent[0], sent.at(-1)]).toEqual([`Bearer ${former}`, `Bearer ${value}`])
  })

  test('that are not there, or may not go there by now, fail the attempt, which is not made', async () => {
    await declare([hostOf()], null)
    const failed = await until('it is gone', async () => {
      const job = await ended(await push('/gone', { retries_enabled: false }))
      return job.failure_reason === 'unknown' ? job : null
    })
    const start = 'The value of header Authorization is not'
    expect(failed.error_message).toBe(`${start} there: the Secret of header secret partner cannot be used.`)
    const waiting = await push('/late', { delay: 2, retries_enabled: false })
    await declare(['other.test'], value)
    await known(['other.test'])
    expect((await ended(waiting)).error_message).toBe(
      `${start} sent: header secret partner may not go to the host of this job.`,
    )
    expect(here.target.arrivals('/late')).toEqual([])
    for (const secret of [former, value]) {
      expect([...(await findersOf(secret)), ...(await keysWith(here.redis.client, secret))]).toEqual([])
    }
  })
})

test('a header that the team masks reaches the target, and is shown nowhere', async () => {
  const value = canary('masked')
  await here.withCompiler((compiler) =>
    compiler.putTeam('default', { egressAllow: [], signingSecrets: [], maskedHeaders: ['x-customer'] }),
  )
  await until('the API knows it', async () => {
    const { masked_headers: names } = await send<{ masked_headers: string[] }>('GET', '/api/team')
    return names.join() === 'x-customer'
  })
  const masks = async (): Promise<boolean> => {
    const probe = {
      queue: 'masked',
      url: `${here.target.url}/echo`,
      headers: { 'X-Customer': 'a-long-probe' },
    }
    const { job_id: id } = await send<{ job_id: number }>('POST', '/api/jobs', {
      ...probe,
      retries_enabled: false,
    })
    await here.client.ended(id)
    const { calls } = await send<Job>('GET', `/api/jobs/${id}`)
    return !JSON.stringify(calls[0]?.response).includes('a-long-probe')
  }
  await until('executors know it', masks)
  const body = { queue: 'masked', url: `${here.target.url}/echo`, headers: { 'X-Customer': value } }
  const { job_id: id } = await send<{ job_id: number }>('POST', '/api/jobs', {
    ...body,
    retries_enabled: false,
  })
  await here.client.ended(id)
  expect(here.target.arrivals('/echo').at(-1)?.headers['x-customer']).toBe(value)
  expect((await send<Job>('GET', `/api/jobs/${id}`)).headers).toEqual({ 'X-Customer': '(hidden)' })
  await send('GET', '/api/jobs?limit=10')
  expect(await findersOf(value)).toEqual([])
  const elsewhere = here.target.url.replace('127.0.0.1', 'localhost')
  const moved = await here.client.send('POST', `/api/jobs/${id}/duplicate`, { url: elsewhere })
  expect(moved).toMatchObject({
    status: 422,
    body: { errors: { 'headers.X-Customer': [expect.anything()] } },
  })
})
