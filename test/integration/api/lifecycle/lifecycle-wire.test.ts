import { createHmac } from 'node:crypto'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import type { ApiClient } from '../../../support/servers/api-client.ts'
import { startInstallation, type Installation } from '../../../support/engine/installation.ts'
import { startRawTarget } from '../../../support/targets/outbound-targets.ts'
import { statuses, type Arrival } from '../../../support/targets/target.ts'
import { until } from '../../../support/until.ts'

let here: Installation
let url: string

beforeAll(async () => {
  here = await startInstallation()
  url = here.target.url
})
afterAll(() => here.close())

const NEWER = `whsec_${Buffer.from('the newer of two secrets, 32 byt').toString('base64')}`
const OLDER = 'a secret of plain text'

const hmac = (key: string | Buffer, text: string, encoding: 'hex' | 'base64') =>
  createHmac('sha256', key).update(text).digest(encoding)

/** As a receiver verifies it: Standard Webhooks 1.0. */
function webhookSignature(secret: string, arrival: Arrival): string {
  const key = secret.startsWith('whsec_') ? Buffer.from(secret.slice(6), 'base64') : Buffer.from(secret)
  const { 'webhook-timestamp': timestamp } = arrival.headers
  return `v1,${hmac(key, `${arrival.webhookId}.${timestamp}.${arrival.body}`, 'base64')}`
}

/** As a receiver verifies it: the service's own scheme. */
const ownSignature = (secret: string, { headers, body }: Arrival) =>
  hmac(secret, `${headers['x-punctual-timestamp']}.${body}`, 'hex')

async function signedTeam(team: string, secrets: readonly string[]): Promise<ApiClient> {
  await here.withCompiler((compiler) => compiler.putTeam(team, { egressAllow: [], signingSecrets: secrets }))
  return here.clientOfTeam(team)
}

/** The executor has read the team's settings once a call of it is signed. */
async function untilSigned(client: ApiClient, path: string): Promise<void> {
  let tries = 0
  await until('calls are signed', async () => {
    const probe = `${path}-probe-${(tries += 1)}`
    await client.push({ queue: 'probe', url: url + probe })
    const [arrival] = await here.target.arrived(probe)
    return arrival?.headers['x-punctual-signature']
  })
}

describe('what the target sees', () => {
  test('is the payload exactly as written, digit by digit and in its order', async () => {
    const payload =
      '{"z": 1.10, "a":12345678901234567890.000,\n "e":1E400, "b":{"2":1,"1":2 },"u":"\\u00e9é\\ud83d\\ude00","":[ ]}'
    const body = `{"queue":"exact","payload":${payload},"url":"${url}/exact","headers":{"X-Second":"2","x-first":"1"}}`
    const pushed = await here.client.send<{ job_id: number }>('POST', '/api/jobs', body)
    expect(pushed.status).toBe(201)
    const [arrival] = await here.target.arrived('/exact')
    expect(arrival?.body).toBe(payload)
    expect(arrival?.headers).toMatchObject({
      'content-type': 'application/json',
      'accept-encoding': 'identity',
      'x-second': '2',
      'x-first': '1',
      'x-punctual-job-id': String(pushed.body.job_id),
      'x-punctual-attempt': '1',
    })
    expect(arrival?.headers['x-punctual-signature']).toBeUndefined()
  })

  test('a large payload comes whole, in each attempt', async () => {
    here.target.route('/large', statuses(500, 200))
    const payload = { text: 'ä'.repeat(400_000) }
    const { job_id: id } = await here.client.push({
      queue: 'large',
      url: `${url}/large`,
      payload,
      retry_delays: [1],
    })
    await here.client.ended(id)
    await until('the retry', async () => (await here.client.job(id)).final_status === 'success')
    const bodies = here.target.arrivals('/large').map((arrival) => arrival.body)
    expect(bodies.map((body) => body === JSON.stringify(payload))).toEqual([true, true])
    const { calls } = await here.client.job(id)
    expect(calls[0]?.request).toMatchObject({ body_truncated: true })
    expect(Buffer.byteLength(calls[0]?.request.body ?? '')).toBeLessThanOrEqual(16 * 1024)
  })

  test.for(['GET', 'POST', 'PUT', 'PATCH', 'DELETE'] as const)(
    '%s, with a payload when one is given',
    async (method) => {
      const path = `/method-${method}`
      await here.client.push({ queue: 'methods', url: `${url}${path}`, method, payload: { a: 1 } })
      await here.client.push({ queue: 'methods', url: `${url}${path}`, method })
      const arrivals = await here.target.arrived(path, 2)
      expect(new Set(arrivals.map((arrival) => `${arrival.method} ${arrival.body}`))).toEqual(
        new Set([`${method} `, `${method} {"a":1}`]),
      )
    },
  )

  test('is kept as a call record: request and response as they were', async () => {
    here.target.route('/recorded', () => ({
      status: 418,
      headers: { 'X-Tea': 'pot' },
      body: 'short and stout',
    }))
    const { job_id: id } = await here.client.push({
      queue: 'recorded',
      url: `${url}/recorded?token=1`,
      payload: { a: 1 },
      retries_enabled: false,
    })
    const { calls, duration_ms: durationMs } = await here.client.ended(id)
    expect(calls).toMatchObject([
      {
        attempt_number: 1,
        failure_reason: 'http_client_error',
        request: { method: 'POST', url: `${url}/recorded?token=1`, body: '{"a":1}', body_truncated: false },
        response: { status: 418, body: 'short and stout', body_truncated: false },
      },
    ])
    expect(calls[0]?.duration_ms).toBe(durationMs)
    expect(calls[0]?.response?.headers).toContainEqual({ name: 'X-Tea', value: 'pot' })
    expect(calls[0]?.timings.queue_wait_ms).toBeGreaterThanOrEqual(0)
    expect(calls[0]?.response?.protocol_notes).toEqual([])
  })

  test('succeeds by the status of an answer that HTTP/1.1 does not allow, and says what is wrong', async () => {
    const odd = await startRawTarget((socket) =>
      socket.end('HTTP/1.1 200 OK\nX-Powered-By : x\nContent-Length: 9\n\nok'),
    )
    await here.client.makeQueue('odd-asserted', {
      success_assertions: [{ type: 'body_contains', value: 'end' }],
      retries_enabled: false,
    })
    const ended = async (queue: string) => {
      const { job_id: id } = await here.client.push({ queue, url: odd.url })
      return here.client.ended(id)
    }
    const notes = [
      'Lines of the head end in LF alone.',
      'Line 2 of the head (X-Powered-By) has white space before its colon.',
      'The body ended after 2 of 9 bytes.',
    ]
    expect(await ended('odd')).toMatchObject({
      final_status: 'success',
      attempt_number: 1,
      calls: [{ response: { status: 200, body: 'ok', protocol_notes: notes } }],
    })
    expect(await ended('odd-asserted')).toMatchObject({
      failure_reason: 'assertion_failed',
      error_message: 'The response body was cut short, and what came of it does not contain "end".',
    })
    expect(odd.connections()).toBe(2)
    await odd.close()
  })
})

describe('signatures', () => {
  test('with one secret both schemes verify, on jobs, retries and callbacks', async () => {
    const client = await signedTeam('one-secret', [NEWER])
    await untilSigned(client, '/one')
    here.target.route('/one', statuses(500, 200))
    const { job_id: id } = await client.push({
      queue: 'signed',
      url: `${url}/one`,
      payload: { total: 1.5 },
      retry_delays: [1],
      callback_url: `${url}/one-cb`,
    })
    const { uuid } = await client.jobThat(id, 'succeeded', (job) => job.final_status === 'success')
    const attempts = await here.target.arrived('/one', 2)
    const callbacks = await here.target.arrived('/one-cb')
    expect(attempts.map((arrival) => arrival.webhookId)).toEqual([uuid, uuid])
    expect(callbacks[0]?.webhookId).toBe(`${uuid}_cb`)
    for (const arrival of [...attempts, ...callbacks]) {
      expect(arrival.headers['webhook-signature']).toBe(webhookSignature(NEWER, arrival))
      expect(arrival.headers['x-punctual-signature']).toBe(ownSignature(NEWER, arrival))
      expect(arrival.headers['x-punctual-signature-previous']).toBeUndefined()
      const ageMs = arrival.arrivedAtMs - Number(arrival.headers['webhook-timestamp']) * 1000
      expect(ageMs).toBeGreaterThanOrEqual(0)
      expect(ageMs).toBeLessThan(60_000)
    }
    const [first, second] = attempts.map((arrival) => Number(arrival.headers['webhook-timestamp']))
    expect(second).toBeGreaterThan(first ?? Infinity)
  })

  test('with two secrets a receiver with either of them verifies', async () => {
    const client = await signedTeam('two-secrets', [NEWER, OLDER])
    await untilSigned(client, '/two')
    await client.push({ queue: 'signed', url: `${url}/two` })
    const [arrival] = await here.target.arrived('/two')
    if (arrival === undefined) throw new Error('nothing arrived')
    expect(arrival.body).toBe('')
    expect(arrival.headers['webhook-signature']).toBe(
      `${webhookSignature(NEWER, arrival)} ${webhookSignature(OLDER, arrival)}`,
    )
    expect(arrival.headers['x-punctual-signature']).toBe(ownSignature(NEWER, arrival))
    expect(arrival.headers['x-punctual-signature-previous']).toBe(ownSignature(OLDER, arrival))
  })

  test('never show a secret in Redis', async () => {
    const stored = await here.redis.client.hgetall('punctual:teams')
    expect(Object.keys(stored).sort()).toEqual(['#v', 'one-secret', 'two-secrets'])
    expect(JSON.stringify(stored)).not.toContain(NEWER.slice(6))
    expect(JSON.stringify(stored)).not.toContain(OLDER)
  })
})

describe('ids', () => {
  test('are accepted in both forms, and nothing else is one', async () => {
    const { job_id: id } = await here.client.push({ queue: 'ids', url: `${url}/ids`, delay: 600 })
    const byNumber = await here.client.job(id)
    expect(await here.client.job(byNumber.uuid)).toEqual(byNumber)
    expect(await here.client.job(byNumber.uuid.toUpperCase())).toEqual(byNumber)
    const foreign = byNumber.uuid.replace(/^./, (digit) => (digit === '0' ? '1' : '0'))
    for (const text of [
      foreign,
      `0${id}`,
      `${id}.0`,
      `-${id}`,
      '9007199254740993',
      '0x10',
      '%00',
      'x'.repeat(9000),
    ]) {
      expect((await here.client.send('GET', `/api/jobs/${text}`)).status, text.slice(0, 40)).toBe(404)
    }
    expect((await here.client.send('GET', '/api/jobs/%ff')).status).toBe(400)
    expect((await here.client.send('DELETE', `/api/jobs/${byNumber.uuid}`)).status).toBe(204)
  })
})
