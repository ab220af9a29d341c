/** What somebody on call mends. */
import { expect, test } from 'vitest'
import type { Bulk, BulkList } from '../../../clients/typescript/src/client.ts'
import type { ApiClient } from '../../support/servers/api-client.ts'
import { until } from '../../support/until.ts'
import { createTaskWorld } from '../support/tasks/task-world.ts'

const { task } = createTaskWorld()

const deadIn = async (client: ApiClient, queue: string) => (await client.queueNamed(queue))?.counts.dead

async function newestBulk(client: ApiClient): Promise<Bulk | undefined> {
  return (await client.send<BulkList>('GET', '/api/bulk?limit=1')).body.bulks[0]
}

test(
  'Replay what failed alike, slowly at first: did it work?',
  task(async ({ shop, person, commands }) => {
    const { page, click, choose, screen, dialog } = person
    const { client, targets } = shop
    targets.partner.route('/orders', () => ({ status: 200 }))
    targets.partner.route('/returns', () => ({ status: 200 }))
    await click(screen('Dead letters'))
    await click(page.getByRole('row', { name: /503/ }).getByRole('button', { name: /^Replay/ }))
    await choose(dialog().getByLabel('At most'), '50 a second')
    await dialog().getByText('Begins at 5 a second and doubles every 10 s').waitFor()
    await click(dialog().getByRole('button', { name: 'Replay 9 jobs' }))
    await click(page.getByRole('link', { name: 'Progress' }))
    await page.getByText('Succeeded 9').first().waitFor()
    expect(await newestBulk(client)).toMatchObject({
      state: 'done',
      outcome: { succeeded: 9, waiting: 0, failed_again: 0 },
    })
    await commands[0]()
    await until(
      'the second bulk has an outcome',
      async () => (await newestBulk(client))?.outcome?.succeeded === 5,
    )
    expect(await commands[1]({ 7: (await newestBulk(client))?.id ?? 0 })).toContain(
      '5 succeeded, 0 wait, 0 failed again',
    )
  }),
)

test(
  'Throw away dead letters that nobody needs.',
  task(async ({ shop, person, commands }) => {
    const { page, click, fill, screen, item, dialog } = person
    const { client } = shop
    await click(screen('Dead letters'))
    await click(page.getByRole('row', { name: /404.*emails/ }).getByRole('button', { name: 'More' }))
    await click(item('Purge 2 jobs'))
    await fill(dialog().getByRole('textbox'), 'emails')
    await click(dialog().getByRole('button', { name: 'Purge 2 jobs' }))
    await expect.poll(() => deadIn(client, 'emails')).toBe(0)
    await until('what was replayed is dead again', async () => (await deadIn(client, 'crm-sync')) === 4)
    await commands[0]()
    await expect.poll(() => deadIn(client, 'crm-sync')).toBe(0)
  }),
)

test(
  'Stop a queue now, and let it go on.',
  task(async ({ shop, person, commands }) => {
    const { click, fill, screen, link, button, dialog } = person
    const isActive = async () => (await shop.client.queueNamed('search-index'))?.is_active
    await click(screen('Queues'))
    await click(link('search-index'))
    await click(button('Pause the queue'))
    await fill(dialog().getByLabel('Why'), 'The index is rebuilt.')
    await click(button('Pause 1 queue'))
    await expect.poll(isActive).toBe(false)
    await click(button('Resume the queue'))
    await expect.poll(isActive).toBe(true)
    await commands[0]()
    expect(await isActive()).toBe(false)
    await commands[1]()
    expect(await isActive()).toBe(true)
  }),
)

test(
  'Cancel a job that must not go out.',
  task(async ({ shop, person, commands }) => {
    const { page, click, fill, press, item, button, dialog } = person
    const { client, targets } = shop
    const url = `${targets.mail.url}/v1/apology`
    const push = async (order: string) =>
      (await client.push({ queue: 'emails', url, delay: 3_600, payload: { order } })).job_id
    const [id, other] = [await push('R-90711'), await push('R-90712')]
    await press('Control+k')
    await fill(page.getByRole('combobox', { name: /^Find a screen/ }), 'R-90711')
    await press('Enter')
    await click(page.locator('[data-rows] > tr').getByRole('link'))
    await click(button('Actions'))
    await click(item(/^Cancel/))
    await click(dialog().getByRole('button', { name: 'Cancel 1 job' }))
    await page.getByText(`Job ${id} cancelled; it was never sent`).waitFor()
    expect((await client.send('GET', `/api/jobs/${id}`)).status).toBe(404)
    expect(await commands[0]({ 'R-90711': 'R-90712' })).toMatch(new RegExp(`^${other} `, 'm'))
    await commands[1]({ 4711: other })
    expect((await client.send('GET', `/api/jobs/${other}`)).status).toBe(404)
    expect(targets.mail.arrivals('/v1/apology')).toEqual([])
  }),
)
