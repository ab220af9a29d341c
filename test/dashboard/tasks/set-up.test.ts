/** What somebody on call sets up, so that the next night is quieter. */
import { expect, test } from 'vitest'
import type {
  Alert,
  NotificationChannelList,
  CronPreview,
  MaintenanceWindow,
  TokenList,
} from '../../../clients/typescript/src/client.ts'
import type { ApiClient } from '../../support/servers/api-client.ts'
import { createTaskWorld } from '../support/tasks/task-world.ts'

const { task } = createTaskWorld()

async function windows(client: ApiClient): Promise<readonly MaintenanceWindow[]> {
  const { body } = await client.send<{ windows: MaintenanceWindow[] }>('GET', '/api/maintenance-windows')
  return body.windows
}

async function tokens(client: ApiClient): Promise<readonly string[]> {
  return (await client.send<TokenList>('GET', '/api/tokens')).body.tokens.map(({ name }) => name)
}

test(
  'Have alerts told in our chat as well.',
  task(async ({ shop, person, commands }) => {
    const { page, click, fill, choose, screen, button, dialog } = person
    const { client, targets } = shop
    const url = `${targets.search.url}/hooks/on-call`
    await click(screen('Notifications'))
    await click(page.getByRole('button', { name: 'Add a channel' }))
    await fill(dialog().getByLabel('Name'), 'desk')
    await choose(dialog().getByLabel('Sends to'), 'Webhook')
    await fill(dialog().getByLabel('URL'), url)
    await click(button('Test and add the channel'))
    await page.getByText('Channel desk took a test message').waitFor()
    await targets.search.arrived('/hooks/on-call')
    const secret = 'https://hooks.slack.com/services/T0/B0/x'
    expect(await commands[0]({ [secret]: url, slack: 'webhook' })).toContain('on-call')
    await targets.search.arrived('/hooks/on-call', 2)
    const { body } = await client.send<NotificationChannelList>('GET', '/api/notification-channels')
    expect(body.channels.map(({ name }) => name)).toEqual(expect.arrayContaining(['desk', 'on-call']))
  }),
)

test(
  'Mute this alert for an hour.',
  task(async ({ shop, person, commands }) => {
    const { page, click, screen, item } = person
    const { client } = shop
    await click(screen('Alerts'))
    const row = page.locator('[data-rows] > tr', { hasText: 'queue emails' }).first()
    await click(row.getByRole('button', { name: 'Actions' }))
    await click(item('Mute queue emails for 1 hour'))
    await page.getByText('Alerts of queue emails are not sent until').waitFor()
    const muted = async () =>
      (await windows(client))
        .filter(({ action, active }) => action === 'mute' && active)
        .map(({ resource }) => resource)
    expect(await muted()).toContainEqual(expect.objectContaining({ kind: 'queue', name: 'emails' }))
    const { alerts } = (await client.send<{ alerts: Alert[] }>('GET', '/api/alerts?resource_kind=queue')).body
    const alert = alerts.find(({ resource }) => resource.name === 'crm-sync')
    await commands[0]({ 4711: alert?.id ?? 0 })
    expect(await muted()).toContainEqual(expect.objectContaining({ kind: 'queue', name: 'crm-sync' }))
  }),
)

test(
  'Hold a queue while its target moves tomorrow.',
  task(async ({ shop, person, commands }) => {
    const { page, click, fill, choose, screen, link, button, dialog } = person
    const { client } = shop
    await click(screen('Maintenance'))
    await click(link('New window'))
    await choose(dialog().getByLabel('For', { exact: true }), 'Queue emails')
    await choose(dialog().getByLabel('What it does'), 'Hold: no job starts either')
    await fill(dialog().getByLabel('Name'), 'mail-moves')
    const day = new Date(Date.now() + 86_400_000).toISOString().slice(0, 10)
    await fill(dialog().getByLabel('Start'), `${day}T22:00`)
    await fill(dialog().getByLabel('End'), `${day}T23:30`)
    await click(button('Create the window'))
    await page.getByText('Window mail-moves created').waitFor()
    await commands[0]()
    const made = (await windows(client)).filter(({ id }) => /^(?:mail|target)-moves$/.test(id))
    const held = { action: 'hold', active: false, resource: { kind: 'queue', name: 'emails' } }
    expect(made).toMatchObject([held, held])
    for (const window of made) expect(Date.parse(window.start_at ?? '')).toBeGreaterThan(Date.now())
  }),
)

test(
  'When does this cron run next? Run it now.',
  task(async ({ shop, person, commands }) => {
    const { page, click, screen, link, button } = person
    const { client, targets } = shop
    await click(screen('Crons'))
    await click(link('nightly-digest'))
    const times = page.getByRole('table', { name: 'Next runs' })
    await times.waitFor()
    const asked = { cron_expression: '30 3 * * *', time_zone: 'Europe/Berlin', count: 1 }
    const { next_runs: runs } = (await client.send<CronPreview>('POST', '/api/crons/preview', asked)).body
    const next = runs[0] ?? ''
    expect(await times.innerText()).toContain(new Date(next).toISOString().slice(11, 16))
    await click(button('Run now'))
    await targets.mail.arrived('/v1/digest')
    expect(await commands[0]()).toContain(next.slice(0, 16))
    await commands[1]()
    await targets.mail.arrived('/v1/digest', 2)
  }),
)

test(
  'Replace a token.',
  task(async ({ shop, person, commands }) => {
    const { page, click, fill, screen, button } = person
    const { client } = shop
    await click(screen('Access'))
    await click(button('Make a token'))
    await fill(page.getByLabel('Name', { exact: true }), 'grafana-2')
    await click(page.getByRole('checkbox', { name: /^read/ }))
    await click(button('Make the token'))
    await page.getByRole('dialog').locator('pre').first().waitFor()
    await click(page.getByRole('dialog').getByRole('button', { name: /^Close$/ }))
    await click(page.getByRole('button', { name: 'Revoke grafana', exact: true }))
    await click(button('Revoke the token'))
    await page.getByText('Token grafana revoked').waitFor()
    expect(await tokens(client)).toContain('grafana-2')
    expect(await tokens(client)).not.toContain('grafana')
    expect(await commands[0]()).toContain('pun_')
    await commands[1]()
    expect(await tokens(client)).toContain('orders-service-2')
    expect(await tokens(client)).not.toContain('orders-service')
  }),
)
