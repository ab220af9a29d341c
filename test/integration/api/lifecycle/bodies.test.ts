import { createHmac } from 'node:crypto'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import type { Job } from '../../../../clients/typescript/src/generated/wire.ts'
import { startInstallation, type Installation } from '../../../support/engine/installation.ts'
import { statuses } from '../../../support/targets/target.ts'
import { until } from '../../../support/until.ts'

let here: Installation

beforeAll(async () => {
  here = await startInstallation()
})
afterAll(() => here.close())

const BYTES = Buffer.from([0x89, 0x50, 0x4e, 0x47, 0x0d, 0x0a, 0x00, 0xff, 0xc3, 0x28])
const BASE64 = BYTES.toString('base64')

async function sent(path: string, fields: object) {
  const { job_id: id } = await here.client.push({ queue: 'bodies', url: here.target.url + path, ...fields })
  const [arrival] = await here.target.arrived(path)
  return { job: await here.client.ended(id), bytes: arrival?.bytes, type: arrival?.headers['content-type'] }
}

describe('a body that is no JSON object', () => {
  test('is sent as text, and shown as it was pushed', async () => {
    const { job, bytes, type } = await sent('/text', { body: 'Grüße\n' })
    expect([bytes?.toString(), type]).toEqual(['Grüße\n', 'text/plain; charset=utf-8'])
    expect(job).toMatchObject({ payload: null, body: 'Grüße\n', body_encoding: 'text', headers: {} })
  })

  test('is sent as the content type that is given', async () => {
    const { job, bytes, type } = await sent('/form', {
      body: 'a=1&b=%20',
      content_type: 'application/x-www-form-urlencoded',
    })
    expect([bytes?.toString(), type]).toEqual(['a=1&b=%20', 'application/x-www-form-urlencoded'])
    expect(job.headers).toEqual({ 'Content-Type': 'application/x-www-form-urlencoded' })
  })

  test('is sent as JSON, exactly as written', async () => {
    const url = `${here.target.url}/json`
    const pushed = `{"queue":"bodies","url":"${url}","body":[ 1.50, 12345678901234567890 ]}`
    const { body } = await here.client.send<{ job_id: number }>('POST', '/api/jobs', pushed)
    const [arrival] = await here.target.arrived('/json')
    const type = arrival?.headers['content-type']
    expect([arrival?.body, type]).toEqual(['[ 1.50, 12345678901234567890 ]', 'application/json'])
    await here.client.ended(body.job_id)
    const shown = await here.client.send<Job>('GET', `/api/jobs/${body.job_id}`)
    expect(shown.body).toMatchObject({
      payload: null,
      body: [1.5, Number('12345678901234567890')],
      body_encoding: 'json',
    })
  })

  test('is sent as the bytes that base64 stands for', async () => {
    const { job, bytes, type } = await sent('/bytes', { body: BASE64, body_encoding: 'base64' })
    expect([bytes, type]).toEqual([BYTES, 'application/octet-stream'])
    expect(job).toMatchObject({ payload: null, body: BASE64, body_encoding: 'base64' })
    expect(job.calls[0]?.request).toMatchObject({ body: BASE64, body_truncated: false })
  })

  test('is signed by its bytes', async () => {
    const secret = 'a secret of plain text'
    await here.withCompiler((compiler) =>
      compiler.putTeam('signs', { egressAllow: [], signingSecrets: [secret] }),
    )
    const client = await here.clientOfTeam('signs')
    let tries = 0
    await until('a call is signed', async () => {
      const path = `/signed-${(tries += 1)}`
      const url = here.target.url + path
      await client.push({ queue: 'signed', url, body: BASE64, body_encoding: 'base64' })
      const [arrival] = await here.target.arrived(path)
      const { 'x-punctual-signature': signature, 'x-punctual-timestamp': timestamp } = arrival?.headers ?? {}
      if (signature === undefined) return false
      const own = createHmac('sha256', secret).update(`${timestamp}.`).update(BYTES).digest('hex')
      expect(signature).toBe(own)
      return true
    })
  })

  test('is the same in each attempt, in a replay and in a duplicate', async () => {
    here.target.route('/again', statuses(500, 500, 200))
    const url = `${here.target.url}/again`
    const large = Buffer.alloc(10_000, BYTES)
    const { job_id: id } = await here.client.push({
      queue: 'again',
      url,
      body: large.toString('base64'),
      body_encoding: 'base64',
      content_type: 'image/png',
      retry_delays: [1],
    })
    await until('it is dead', async () => (await here.client.job(id)).final_status === 'dead_lettered')
    const replay = await here.client.send<{ job_id: number }>('POST', `/api/jobs/${id}/replay`)
    await here.client.ended(replay.body.job_id)
    const duplicate = await here.client.send<{ job_id: number }>(
      'POST',
      `/api/jobs/${replay.body.job_id}/duplicate`,
    )
    expect(duplicate.status).toBe(201)
    const arrivals = await here.target.arrived('/again', 4)
    expect(arrivals.map(({ bytes }) => bytes.equals(large))).toEqual([true, true, true, true])
    expect(new Set(arrivals.map(({ headers }) => headers['content-type']))).toEqual(new Set(['image/png']))
  })

  test('takes the place of a payload in a copy, and the other way round', async () => {
    const { job } = await sent('/copied', { payload: { a: 1 } })
    const copyOf = async (id: number, change: object) => {
      const path = `/api/jobs/${id}/duplicate`
      const { body, status } = await here.client.send<{ job_id: number }>('POST', path, change)
      expect(status).toBe(201)
      return here.client.ended(body.job_id)
    }
    const text = await copyOf(job.job_id, { body: 'a: 1', content_type: 'text/yaml' })
    expect(text).toMatchObject({ payload: null, body: 'a: 1', headers: { 'Content-Type': 'text/yaml' } })
    const again = await copyOf(text.job_id, { payload: { b: 2 }, headers: {} })
    expect(again).toMatchObject({ payload: { b: 2 }, body: null, body_encoding: null })
    const bodies = here.target.arrivals('/copied').map(({ body, headers }) => [body, headers['content-type']])
    expect(bodies).toEqual([
      ['{"a":1}', 'application/json'],
      ['a: 1', 'text/yaml'],
      ['{"b":2}', 'application/json'],
    ])
  })
})
