import assert from 'node:assert/strict'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import type { Page } from 'playwright-core'
import { afterAll, afterEach } from 'vitest'
import type { ApiClient } from '../../support/servers/api-client.ts'
import { createStandaloneWorld, type StandaloneWorld } from '../../support/servers/standalone-world.ts'
import { type Dashboard, openDashboard, whyNoBrowser } from './browser.ts'

export interface OpenedDashboard {
  readonly url: string
  readonly token: string
  readonly client: ApiClient
  readonly dashboard: Dashboard
  /** Logged in with the token. */
  readonly page: Page
}

/**
 * A standalone for the tests of a file, with a browser that is logged in to it. Both are closed after the last test, and a
 * test fails if the console has an error, or the browser a report of the content security policy.
 * @returns `missing`: why there is no browser, null = there is one
 */
export function createDashboardWorld() {
  const missing = whyNoBrowser()
  const world = createStandaloneWorld()
  let dashboard: Dashboard | null = null
  afterEach(() => assert.deepEqual(dashboard?.reported() ?? [], []))
  afterAll(async () => {
    await dashboard?.close()
    await world.close()
  })
  return {
    missing,
    /** @param prepare gets the data folder before the start */
    open: async (
      prepare: (folder: string, world: StandaloneWorld) => void | Promise<void> = () => undefined,
    ): Promise<OpenedDashboard> => {
      const folder = world.newFolder()
      await prepare(folder, world)
      const { program, client } = await world.start(folder)
      const url = String((await program.logged('Standalone runs'))['url'])
      const token = readFileSync(join(folder, 'token'), 'utf8').trim()
      dashboard = await openDashboard(url)
      return { url, token, client, dashboard, page: await dashboard.logIn(token) }
    },
  }
}
