import { mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { afterAll, expect, test } from 'vitest'
import { createStandaloneWorld } from '../../support/servers/standalone-world.ts'
import { latch } from '../../support/targets/target.ts'

const { newFolder, newTarget, start, close } = createStandaloneWorld()
afterAll(close)

/** A lease that must run out, and a start on a busy machine. */
const TAKEN_OVER_MS = 40_000

function teamOf(hookUrl: string): string {
  return `
apiVersion: punctual.dev/v1alpha1
kind: TeamSettings
metadata: { name: team }
spec:
  egress: { allow: [127.0.0.0/8] }
  signing: { secretRefs: [{ name: urls, key: signing }] }
  notifications:
    channels: [{ name: hook, type: Webhook, secretRef: { name: urls, key: hook } }]
---
apiVersion: v1
kind: Secret
metadata: { name: urls }
type: punctual.dev/signing-secret
stringData: { hook: '${hookUrl}', signing: whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw }
`
}

test('a message whose executor is killed goes out again under its id', { timeout: 90_000 }, async () => {
  const [folder, target] = [newFolder(), await newTarget()]
  const held = latch()
  target.route('/fails', () => ({ status: 500 }))
  target.route('/hook', (arrival, nth) =>
    nth === 1 && arrival.body.includes('"event":"alert"') ? held.answering(arrival, nth) : {},
  )
  mkdirSync(join(folder, 'resources'))
  writeFileSync(join(folder, 'resources', 'team.yaml'), teamOf(`${target.url}/hook`))
  const first = await start(folder)
  await first.client.send('POST', '/api/notifications/test', {})
  await first.client.makeQueue('emails', { alerts_enabled: true, retries_enabled: false })
  await first.client.push({ queue: 'emails', url: `${target.url}/fails` })
  await target.arrived('/hook', 2)
  first.program.signal('SIGKILL')
  await first.program.exited
  held.open()
  await start(folder)
  await target.arrived('/hook', 3, TAKEN_OVER_MS)
  const [, cut, again] = target.arrivals('/hook')
  expect(cut?.headers['webhook-id']).toMatch(/./)
  expect(again?.headers['webhook-id']).toBe(cut?.headers['webhook-id'])
  expect(again?.body).toBe(cut?.body)
})
