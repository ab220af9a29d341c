import { afterAll, beforeAll, expect, test } from 'vitest'
import { startInstallation, type Installation } from '../../support/engine/installation.ts'

/** Loopback stands for the inside of a cluster; `localhost` is a name that the cluster resolves. */
const SETTINGS = {
  PUNCTUAL_EGRESS_CLUSTER_CIDRS: '127.0.0.0/8,::1/128,8.8.8.0/24',
  PUNCTUAL_PUBLIC_URL: 'https://punctual.example.com/tools',
  PUNCTUAL_EGRESS_OWN_HOSTS: 'jobs.example.com',
}
let here: Installation
let port: string

beforeAll(async () => {
  const env = { ...SETTINGS, PUNCTUAL_EGRESS_ALLOW: 'localhost' }
  here = await startInstallation({ apiEnv: env, executorEnv: env })
  port = new URL(here.target.url).port
})
afterAll(() => here.close())

const push = (url: string, installation = here) =>
  installation.client.send('POST', '/api/jobs', { queue: 'q', url, retries_enabled: false })

test.each([
  'https://example.com:25/',
  'http://example.com:6667/',
  'https://punctual.example.com/api/jobs',
  'https://jobs.example.com/',
  'http://8.8.8.8/',
  'http://127.0.0.1/',
])('%s is refused at the push, without an address in the answer', async (url) => {
  const answer = await push(url)
  const text = 'The url field must not point to a blocked address.'
  expect(answer).toMatchObject({ status: 422, body: { errors: { url: [text] } } })
})

test('no wish of a team opens anything unless the installation lets it', async () => {
  await here.withCompiler((compiler) =>
    compiler.putTeam('default', { egressAllow: ['10.0.0.0/8', 'shop.internal'], signingSecrets: [] }),
  )
  for (const url of ['http://10.1.2.3/', 'http://a.shop.internal/']) {
    expect(await push(url)).toMatchObject({ status: 422 })
  }
})

test('a name of the cluster and one that does not exist end alike', async () => {
  const ends = await Promise.all(
    [`http://localhost:${port}/inside`, 'http://nowhere.invalid/'].map(async (url) => {
      const { body } = await push(url)
      const { failure_reason: reason, error_message: message } = await here.client.ended(
        (body as { job_id: number }).job_id,
      )
      return { reason, message }
    }),
  )
  const message = 'The host name does not exist, or has no address that the egress policy allows.'
  expect(ends).toEqual([
    { reason: 'dns_error', message },
    { reason: 'dns_error', message },
  ])
  expect(here.target.arrivals('/inside')).toEqual([])
})

test('a name at fixed addresses inside the cluster is called, on its port alone', async () => {
  // An IPv6 address beside a port needs its prefix.
  const allow = `localhost=127.0.0.0/8:${port},localhost=::1/128:${port}`
  const env = { ...SETTINGS, PUNCTUAL_EGRESS_ALLOW: allow }
  const open = await startInstallation({ apiEnv: env, executorEnv: env })
  const own = new URL(open.target.url).port
  expect(await push(`http://localhost:${own}/`, open)).toMatchObject({ status: 422 })
  const { body } = await push(`http://localhost:${port}/fixed`, open)
  expect(await open.client.ended((body as { job_id: number }).job_id)).toMatchObject({
    final_status: 'success',
  })
  expect(here.target.arrivals('/fixed')).toHaveLength(1)
  await open.close()
})
