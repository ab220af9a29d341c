/** What somebody on call wants to know. */
import { expect, test } from 'vitest'
import type { Job, Status } from '../../../clients/typescript/src/client.ts'
import { createTaskWorld } from '../support/tasks/task-world.ts'

const { task } = createTaskWorld()

test(
  'What just failed?',
  task(async ({ shop, person, commands }) => {
    const { page, click, link } = person
    await click(link(/^Failure rate/))
    const rows = page.locator('[data-rows] > tr')
    await rows.first().waitFor()
    const newest = async () => {
      const { jobs } = await shop.client.jobs({ status: 'failed', ended_after: '1h', order: 'newest' })
      return String(jobs[0]?.job_id)
    }
    // What was replayed when the shop opened may still fail.
    const shown = () => rows.locator('td .number').first().innerText()
    await expect.poll(async () => (await shown()) === (await newest())).toBe(true)
    expect(await commands[0]()).toMatch(/open +503 from 127\.0\.0\.1 +queue webhooks/)
    const [, first = ''] = (await commands[1]()).split('\n')
    expect(first).toMatch(new RegExp(`^${await newest()} `))
  }),
)

test(
  'Which queue is in trouble, and why?',
  task(async ({ shop, person, commands }) => {
    const { page, click, screen } = person
    await click(screen('Queues'))
    const worst = page.locator('[data-rows] > tr').first()
    await worst.waitFor()
    await click(worst.getByRole('link').first())
    const { queues } = await shop.client.queues({ sort: 'trouble' })
    const name = queues[0]?.name ?? ''
    await page.getByRole('heading', { level: 1, name }).waitFor()
    const failures = page.getByRole('table', { name: 'The last failures' })
    await failures.locator('tbody tr').first().waitFor()
    const [, first = ''] = (await commands[0]()).split('\n')
    expect(first).toMatch(new RegExp(` ${name} `))
    expect(await commands[1]({ webhooks: name })).toMatch(new RegExp(` from 127\\.0\\.0\\.1 .*queue ${name}`))
  }),
)

test(
  'Who paused this queue, and why?',
  task(async ({ shop, person, commands }) => {
    const { page, click, link, screen } = person
    const id = (await shop.client.queueNamed('thumbnails'))?.queue_id
    await shop.client.send('POST', `/api/queues/${id}/resume`)
    await shop.client.send('POST', `/api/queues/${id}/pause`, { reason: 'Images move to another bucket.' })
    await click(screen('Queues'))
    await click(link('thumbnails'))
    await page.getByText(/^Paused .* by ada through the API: “Images move to another bucket\.”/).waitFor()
    expect(await commands[0]()).toMatch(/paused .*ada.*Images move to another bucket\./s)
  }),
)

test(
  'Which job had this order number in its answer?',
  task(async ({ shop, person, commands }) => {
    const { page, click, fill, press } = person
    const { client, targets } = shop
    targets.payments.route('/refunds', () => ({ body: '{"refund": "R-77120"}' }))
    const { job_id: id } = await client.push({ queue: 'invoices', url: `${targets.payments.url}/refunds` })
    await client.ended(id)
    await press('Control+k')
    await fill(page.getByRole('combobox', { name: /^Find a screen/ }), 'R-77120')
    await press('Enter')
    await click(page.locator('[data-rows] > tr').getByRole('link'))
    await page.waitForURL(`${shop.url}/jobs/${id}`)
    await page.getByText('"R-77120"').first().waitFor()
    expect(await commands[0]()).toMatch(new RegExp(`^${id} `, 'm'))
  }),
)

test(
  'What became of the job that I push?',
  task(async ({ shop, person, commands }) => {
    const { page, click, fill, button } = person
    const { client, targets } = shop
    const [url, callback] = [`${targets.mail.url}/v1/hello`, `${targets.payments.url}/callbacks`]
    await click(page.getByRole('link', { name: 'Send a job' }))
    await fill(page.getByRole('combobox', { name: 'Queue' }), 'emails')
    await fill(page.getByLabel('URL', { exact: true }), url)
    await click(page.getByText('Tags and callback'))
    await fill(page.getByLabel('Callback URL'), callback)
    await click(button('Send 1 job'))
    await click(page.getByRole('link', { name: 'Show it' }))
    await page
      .getByText(/^Succeeded/)
      .first()
      .waitFor()
    const id = new URL(page.url()).pathname.split('/').at(-1) ?? ''
    const job: Job = await client.job(id)
    expect(job).toMatchObject({ final_status: 'success', callback_url: callback })
    const [arrived] = await targets.payments.arrived('/callbacks')
    expect(JSON.parse(arrived?.body ?? '')).toMatchObject({ job_id: job.uuid, status: 'success' })
    const instead = {
      'https://mail.example.com': url,
      'https://shop.example.com/done': callback,
    }
    expect(await commands[0](instead)).toContain('success')
    expect((await targets.payments.arrived('/callbacks', 2)).length).toBe(2)
    expect(await commands[1]({ 4711: id })).toContain(callback)
  }),
)

test(
  'Is it worse than yesterday?',
  task(async ({ shop, person, commands }) => {
    const { page, click, button } = person
    await click(button('24 hours'))
    await page
      .getByText(/^In 24 hours · .* in the day before$/)
      .first()
      .waitFor()
    const { status } = await shop.client.send('GET', '/api/stats?since=24h&compare=previous')
    expect(status).toBe(200)
    expect(await commands[0]()).toMatch(/before/i)
  }),
)

test(
  'Is Punctual itself well?',
  task(async ({ shop, person, commands }) => {
    const { page, click, screen } = person
    await click(screen('Status'))
    const { body } = await shop.client.send<Status>('GET', '/api/status')
    await page.getByText(body.version).first().waitFor()
    await page.getByText('Redis').first().waitFor()
    expect(await commands[0]()).toContain(body.version)
  }),
)
