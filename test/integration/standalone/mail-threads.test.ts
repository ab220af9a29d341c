import { mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { createStandaloneWorld, type StandaloneWorld } from '../../support/servers/standalone-world.ts'
import { selfSignedCertificate } from '../../support/targets/certificates.ts'
import { startMailTarget, type MailTarget } from '../../support/targets/mail-target.ts'

const LOGIN = { user: 'punctual', password: 'pass' }
const TEAM = `
apiVersion: punctual.dev/v1alpha1
kind: TeamSettings
metadata: { name: team }
spec:
  members: [{ name: Ada, email: ada@a.test }]
  notifications: { channels: [{ name: mail, type: Email }] }
`

const certificate = selfSignedCertificate()
let world: StandaloneWorld
let mail: MailTarget

beforeAll(async () => {
  world = createStandaloneWorld()
  mail = await startMailTarget({ certificate, login: LOGIN })
})
afterAll(async () => {
  await world.close()
  await mail.close()
})

test('the recovery of a cron lies under its failure, by a mail server whose authority was named', async () => {
  const [folder, target] = [world.newFolder(), await world.newTarget()]
  mkdirSync(join(folder, 'resources'))
  writeFileSync(join(folder, 'resources', 'team.yaml'), TEAM)
  writeFileSync(join(folder, 'authority.pem'), certificate.cert)
  const { client } = await world.start(folder, {
    NODE_EXTRA_CA_CERTS: join(folder, 'authority.pem'),
    PUNCTUAL_SMTP_URL: `smtp://${LOGIN.user}:${LOGIN.password}@localhost:${mail.port}`,
    PUNCTUAL_SMTP_FROM: 'Punctual <punctual@a.test>',
  })
  // Then the channel is known: it is told of what is raised from then on.
  await client.send('POST', '/api/notifications/test', {})
  await mail.received(1)
  target.route('/report', () => ({ status: 500 }))
  const made = await client.send('POST', '/api/crons', {
    name: 'Nightly <report>',
    url: `${target.url}/report`,
    cron_expression: '0 0 1 1 *',
  })
  const { id } = made.body as { id: number }

  await client.send('POST', `/api/crons/${id}/run`)
  await mail.received(2)
  target.route('/report', () => ({ status: 200 }))
  await client.send('POST', `/api/crons/${id}/run`)
  await mail.received(3)

  const [, failure, recovery] = mail.mails()
  expect([failure?.isSecure, recovery?.isSecure]).toEqual([true, true])
  expect(failure?.parsed.subject).toBe('[Punctual] Alert about cron "Nightly <report>" of team default')
  expect(recovery?.parsed.subject).toBe(`Re: ${failure?.parsed.subject}`)
  expect(failure?.parsed.text).toMatch(/^Failure: /)
  expect(recovery?.parsed.text).toMatch(/^Recovery: /)
  expect(recovery?.parsed.references).toBe(failure?.parsed.references)
  expect(recovery?.parsed.messageId).not.toBe(failure?.parsed.messageId)
})
