/** Each page of the documents from its first command to its last, in one shell, as somebody would who follows it. */
import { afterAll, beforeAll, expect, test } from 'vitest'
import { freePort } from '../../support/servers/redis-server.ts'
import { createStandaloneWorld } from '../../support/servers/standalone-world.ts'
import { PAGES, scriptOf } from '../../support/pages/blocks.ts'
import { isBuilt, openScene, type PageScene } from '../../support/pages/page-scene.ts'
import { followPage } from '../../support/pages/page-shell.ts'

const world = createStandaloneWorld()
afterAll(world.close)

let shared: PageScene
beforeAll(async () => {
  shared = await openScene(world)
})

const FOLLOWED = PAGES.filter((page) => scriptOf(page, 'shell').trim() !== '')

/** What a reader would see of some pages, if all is well. */
const SEEN: Readonly<Record<string, readonly RegExp[]>> = {
  'docs/how-to/send-webhooks.md': [/at most 4 at a time/, /whsec_/, /^\d+ +webhooks-acme /m],
  'docs/how-to/run-a-nightly-report.md': [/Europe\/Berlin/, /sales-report/],
  'docs/how-to/respect-a-rate-limit.md': [/10\/s/],
  'docs/how-to/find-out-why-a-job-waits.md': [/paused/, /an example/],
  'docs/how-to/recover-from-an-outage.md': [/503/, /replay/],
  'docs/how-to/develop-locally.md': [/"run_at"/, /webhook-signature: valid/],
  'docs/how-to/tests-with-the-clock.md': [/"ahead_seconds":3600/],
  'docs/reference/signing.md': [/webhook-signature: valid/],
}

interface OwnScene {
  readonly env?: () => Promise<Record<string, string>>
  /** What a reader has done some time before. */
  readonly before?: string
  /** The standalone is stopped before the line that begins so. */
  readonly stopsAt?: string
}

/** Pages that start, stop or break a standalone have one of their own. */
const OWN_SCENES: Readonly<Record<string, OwnScene>> = {
  'docs/how-to/tests-with-the-clock.md': {
    env: async () => ({
      PUNCTUAL_PORT: String(await freePort()),
      PUNCTUAL_OPS_PORT: String(await freePort()),
      PUNCTUAL_TOKEN: '',
    }),
  },
  'docs/reference/backup.md': { stopsAt: 'mv .punctual/redis' },
  'docs/runbooks.md': {
    before:
      '\npunctual backup punctual.backup\nredis-cli SAVE\nmkdir copy\ncp .punctual/redis/dump.rdb copy\n',
    stopsAt: 'cp -a ',
  },
}

test.for(FOLLOWED)('%s works as written', async (page, { skip }) => {
  skip(!isBuilt(), 'nothing is built: make build')
  const { env, before = '', stopsAt } = OWN_SCENES[page] ?? {}
  const scene = page in OWN_SCENES ? await openScene(world, await env?.()) : shared
  await followPage(before, scene.shell)
  const lines = (await scene.adapted(scriptOf(page, 'shell'))).split('\n')
  const stop = stopsAt === undefined ? lines.length : lines.findIndex((line) => line.startsWith(stopsAt))
  expect(stop).toBeGreaterThan(0)
  let stdout = await followPage(lines.slice(0, stop).join('\n'), scene.shell)
  if (stop < lines.length) {
    await scene.stop()
    stdout += await followPage('\n'.repeat(stop) + lines.slice(stop).join('\n'), scene.shell)
  }
  for (const seen of SEEN[page] ?? []) expect(stdout).toMatch(seen)
})
