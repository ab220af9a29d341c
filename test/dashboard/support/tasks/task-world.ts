import assert from 'node:assert/strict'
import { execFile } from 'node:child_process'
import { join } from 'node:path'
import { promisify } from 'node:util'
import type { Page } from 'playwright-core'
import { afterAll, afterEach, beforeAll, type TestContext } from 'vitest'
import { programEnv } from '../../../support/servers/processes.ts'
import { createStandaloneWorld } from '../../../support/servers/standalone-world.ts'
import { type Dashboard, openDashboard, show, whyNoBrowser } from '../browser.ts'
import { openShop, type Shop } from '../shop/shop.ts'
import { createPerson, type Person } from './person.ts'
import { readTaskTable } from './task-table.ts'

/** A command of the table. @param instead what stands for the names of the page, as its ids do */
export type Command = (instead?: Readonly<Record<string, string | number>>) => Promise<string>

export interface Task {
  readonly shop: Shop
  readonly person: Person
  readonly commands: readonly [Command, Command]
}

const BIN = join(import.meta.dirname, '../../../../bin')
const COMMAND_MS_MAX = 60_000

/**
 * The shop, with somebody at its page and at its shell. A task begins on the overview, may take exactly the clicks and fields
 * of its row in docs/dashboard.md, and runs the commands of that row as they stand there.
 */
export function createTaskWorld() {
  const missing = whyNoBrowser()
  const world = createStandaloneWorld()
  let shop: Shop
  let dashboard: Dashboard | null = null
  let page: Page
  beforeAll(async () => {
    if (missing !== null) return
    shop = await openShop(world)
    dashboard = await openDashboard(shop.url)
    page = await dashboard.logIn(shop.token)
  }, 120_000)
  afterEach(() => assert.deepEqual(dashboard?.reported() ?? [], []))
  afterAll(async () => {
    await dashboard?.close()
    await world.close()
  })

  /** A test that does the task of its name. */
  const task =
    (run: (task: Task) => Promise<void>) =>
    async ({ task: { name }, skip }: TestContext): Promise<void> => {
      skip(missing !== null, missing ?? '')
      const row = readTaskTable().find((one) => one.name === name)
      assert.ok(row !== undefined, `docs/dashboard.md has no task ${name}`)
      const left = new Set(row.commands)
      const commandOf = (text: string | undefined): Command => {
        return async (instead = {}) => {
          assert.ok(text !== undefined, 'docs/dashboard.md has no such command')
          left.delete(text)
          return runCommand(text, instead, shop)
        }
      }
      await show(page, '/')
      const person = createPerson(page)
      const [first, second] = row.commands
      await run({ shop, person, commands: [commandOf(first), commandOf(second)] })
      assert.deepEqual(person.effort, { clicks: row.clicks, fields: row.fields })
      assert.deepEqual([...left], [], 'commands of docs/dashboard.md that were not run')
    }
  return { task }
}

async function runCommand(
  text: string,
  instead: Readonly<Record<string, string | number>>,
  { url, token }: Shop,
): Promise<string> {
  const command = Object.entries(instead).reduce(
    (all, [name, value]) => all.replaceAll(name, String(value)),
    text,
  )
  const { PATH = '', ...env } = programEnv()
  const settings = { PATH: `${BIN}:${PATH}`, PUNCTUAL_SERVER: url, PUNCTUAL_TOKEN: token }
  const run = promisify(execFile)('bash', ['--norc', '-c', command], {
    env: { ...env, ...settings },
    timeout: COMMAND_MS_MAX,
  })
  try {
    return (await run).stdout
  } catch (error) {
    const { stdout = '' } = error as { readonly stdout?: string }
    throw new Error(`${(error as Error).message} ${stdout}`, { cause: error })
  }
}
