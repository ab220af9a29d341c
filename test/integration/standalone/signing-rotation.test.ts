import { createHmac } from 'node:crypto'
import { readdirSync, readFileSync, statSync, writeFileSync } from 'node:fs'
import type { IncomingHttpHeaders } from 'node:http'
import { join } from 'node:path'
import { afterAll, expect, test } from 'vitest'
import type { SigningSecret } from '../../../clients/typescript/src/generated/wire.ts'
import { stopProgram } from '../../support/servers/processes.ts'
import { until } from '../../support/until.ts'
import { createStandaloneWorld } from '../../support/servers/standalone-world.ts'

const { newFolder, newTarget, start, close } = createStandaloneWorld()
afterAll(close)

const PATH = '/api/signing-secrets'

test('calls are signed with both secrets of a rotation from the answer on, and with none after the last', async () => {
  const [folder, target] = [newFolder(), await newTarget()]
  const { program, client } = await start(folder)
  const create = async () => (await client.send<SigningSecret>('POST', PATH)).body
  const remove = async ({ id }: SigningSecret) => (await client.send('DELETE', `${PATH}/${id}`)).status
  const signatures = async (path: string) => {
    const job = await client.push({ queue: 'q', url: `${target.url}${path}` })
    await client.ended(job.job_id)
    const headers: IncomingHttpHeaders = target.arrivals(path)[0]?.headers ?? {}
    const made = ({ secret = '' }: SigningSecret) =>
      createHmac('sha256', secret)
        .update(`${String(headers['x-punctual-timestamp'])}.`)
        .digest('hex')
    return { made, sent: [headers['x-punctual-signature'], headers['x-punctual-signature-previous']] }
  }
  const first = await create()
  const second = await create()
  const both = await signatures('/both')
  expect(both.sent).toEqual([both.made(second), both.made(first)])
  expect(await remove(first)).toBe(204)
  const one = await signatures('/one')
  expect(one.sent).toEqual([one.made(second), undefined])

  await client.send('GET', PATH)
  expect(await stopProgram(program)).toEqual([])
  const value = second.secret?.slice('whsec_'.length) ?? ''
  const holding = readdirSync(folder, { recursive: true, withFileTypes: true })
    .filter((file) => file.isFile())
    .map((file) => join(file.parentPath, file.name))
    .filter((file) => readFileSync(file, 'latin1').includes(value))
  // The saved state of the folder is a copy of its manifests.
  expect(holding.filter((file) => file.endsWith(`${second.secret_ref.name}.yaml`))).toHaveLength(1)
  expect(holding.filter((file) => file.includes('/redis/'))).toEqual([])
  expect(holding.map((file) => statSync(file).mode & 0o777)).toEqual(holding.map(() => 0o600))
  expect(JSON.stringify(program.log)).not.toContain(value)

  const again = await start(folder)
  expect((await again.client.send('DELETE', `${PATH}/${second.id}`)).status).toBe(204)
  const job = await again.client.push({ queue: 'q', url: `${target.url}/none` })
  await again.client.ended(job.job_id)
  expect(target.arrivals('/none')[0]?.headers).not.toHaveProperty('x-punctual-signature')
})

test('a job takes a header from a Secret of the folder, and from the next one once that has changed', async () => {
  const [folder, target] = [newFolder(), await newTarget()]
  const manifests = newFolder()
  const { client } = await start(folder, { PUNCTUAL_RESOURCES: manifests })
  const host = new URL(target.url).host
  const write = (token: string) =>
    writeFileSync(
      // In place of the sample.
      join(manifests, 'team.yaml'),
      `apiVersion: punctual.dev/v1alpha1
kind: TeamSettings
metadata: { name: team }
spec: { headerSecrets: [{ name: partner, secretKeyRef: { name: partner, key: token }, hosts: ['${host}'] }] }
---
apiVersion: v1
kind: Secret
metadata: { name: partner }
type: punctual.dev/header-secret
stringData: { token: ${token} }
`,
    )
  const push = { queue: 'q', url: `${target.url}/partner`, header_secrets: { 'X-Partner': 'partner' } }
  const sends = (token: string) =>
    until(`${token} is sent`, async () => {
      const { status, body } = await client.send<{ job_id: number }>('POST', '/api/jobs', push)
      if (status === 201) await client.ended(body.job_id)
      return target.arrivals('/partner').at(-1)?.headers['x-partner'] === token
    })
  expect((await client.send('POST', '/api/jobs', push)).status).toBe(422)
  for (const token of ['first-token', 'second-token']) {
    write(token)
    await sends(token)
  }
})
