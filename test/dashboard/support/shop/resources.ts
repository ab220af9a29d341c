/** What the shop keeps in Git: the queue of invoices, the cron of the month's end, and who is told of alerts. */
import { mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import type { ShopTargets } from './targets.ts'

/** Into the folder of a standalone that has not started yet. */
export function writeResources(folder: string, { mail, partner }: ShopTargets): void {
  const resources = join(folder, 'resources')
  mkdirSync(resources, { recursive: true })
  writeFileSync(
    join(resources, 'shop.yaml'),
    `apiVersion: punctual.dev/v1alpha1
kind: TeamSettings
metadata: { name: team }
spec:
  members:
    - { name: Ada, email: ada@shop.example }
    - { name: Grace, email: grace@shop.example }
  notifications:
    channels:
      - { name: ops, type: Webhook, secretRef: { name: notifications, key: ops } }
      - { name: partner-desk, type: Webhook, alertTypes: [Failure], secretRef: { name: notifications, key: partner } }
---
apiVersion: v1
kind: Secret
metadata: { name: notifications }
stringData:
  ops: ${mail.url}/v1/alerts
  partner: ${partner.url}/returns
---
apiVersion: punctual.dev/v1alpha1
kind: HttpQueue
metadata: { name: invoices }
spec: { maxParallelism: 5, retryDelays: [10, 60, 600] }
---
apiVersion: punctual.dev/v1alpha1
kind: HttpCron
metadata: { name: month-end-close }
spec:
  url: ${mail.url}/v1/close
  cronExpression: 30 2 1 * *
  timeZone: Europe/Berlin
  queue: invoices
`,
  )
}

/** Into a folder whose team has nothing: without a file, the samples would be put there. */
export function writeNoResources(folder: string): void {
  const resources = join(folder, 'resources')
  mkdirSync(resources, { recursive: true })
  writeFileSync(join(resources, 'nothing.yaml'), '# Nothing yet.\n')
}
