/** Backups of a standalone, and restores into its data folder: the tests go on from each other. */
import { cpSync, existsSync, readFileSync, renameSync } from 'node:fs'
import { join } from 'node:path'
import { Redis } from 'ioredis'
import { afterAll, expect, test } from 'vitest'
import { holdRole, type HeldRole, runRole } from '../../../support/backup/role-runs.ts'
import { createBackupWorld } from '../../../support/backup/backup-world.ts'
import { createApiClient } from '../../../support/servers/api-client.ts'
import { createStandaloneWorld, redisPid } from '../../../support/servers/standalone-world.ts'
import { until } from '../../../support/until.ts'

interface AlertList {
  readonly alerts: ReadonlyArray<{ readonly resource: { readonly kind: string; readonly name: string } }>
}

const standalones = createStandaloneWorld()
const world = createBackupWorld()
const file = world.path('backup')
const folder = standalones.newFolder()
const env = { PUNCTUAL_DATA_DIR: folder }
/** Jobs before the backup, and after it. */
const ids: { before: number[]; after: number[] } = { before: [], after: [] }

/** Tokens of the folder, of which one is revoked after the backup. */
const tokens = { kept: '', revoked: '' }

afterAll(async () => {
  await standalones.close()
  await world.close()
}, 60_000)

test('a backup is made beside a standalone that runs, and a restore into its folder is refused', async () => {
  const { program, client } = await standalones.start(folder)
  for (const name of ['kept', 'revoked'] as const) {
    const { body } = await client.send<{ token: string }>('POST', '/api/tokens', { name, scopes: ['read'] })
    tokens[name] = body.token
  }
  const push = async (): Promise<number> =>
    (await client.push({ queue: 'later', url: 'http://127.0.0.1:9/', delay: 3600 })).job_id
  for (let i = 0; i < 5; i += 1) ids.before.push(await push())
  expect(await runRole(['backup', file], env)).toMatchObject({ code: 0, err: '' })
  const refused = await runRole(['restore', file], env)
  expect([refused.code, refused.err]).toEqual([2, expect.stringMatching(/is in use by process \d+ at http/)])
  for (let i = 0; i < 5; i += 1) ids.after.push(await push())
  expect((await client.send('DELETE', '/api/tokens/revoked')).status).toBe(204)
  program.signal('SIGTERM')
  expect(await program.exited).toMatchObject({ code: 0 })
}, 120_000)
test('a folder whose Redis holds data is left as it is', async () => {
  const { code, err } = await runRole(['restore', file], env)
  expect([code, err]).toEqual([
    1,
    expect.stringMatching(
      /^punctual: Redis holds the installation \w+ with 4 shards: move .+\/redis away\.\n$/,
    ),
  ])
  expect(redisPid(folder)).toBeNull()
  const { program, client } = await standalones.start(folder)
  expect((await client.send('GET', `/api/jobs/${ids.after[0]}`)).status).toBe(200)
  program.signal('SIGTERM')
  await program.exited
}, 60_000)

test('what is restored into the folder goes on from the backup, and teams are told', async () => {
  renameSync(join(folder, 'redis'), join(folder, 'redis.before'))
  const { code, out } = await runRole(['restore', file], env)
  expect(code).toBe(0)
  expect(out.toString()).toMatch(/^Restored installation \w+, 4 shards: \d+ keys/)
  expect(redisPid(folder)).toBeNull()
  const { program, client } = await standalones.start(folder)
  await program.logged('Redis holds an older copy of its data')
  const url = String((await program.logged('Standalone runs'))['url'])
  const answerTo = (token: string) => createApiClient(url, token).send('GET', '/api/queues')
  expect([(await answerTo(tokens.kept)).status, (await answerTo(tokens.revoked)).status]).toEqual([200, 401])
  const status = async (id: number): Promise<number> => (await client.send('GET', `/api/jobs/${id}`)).status
  expect(await Promise.all(ids.before.map(status))).toEqual(ids.before.map(() => 200))
  expect(await Promise.all(ids.after.map(status))).toEqual(ids.after.map(() => 404))
  const { body } = await client.send<AlertList>('GET', '/api/alerts?type=failure&reason=jobs_lost')
  expect(body.alerts.map(({ resource }) => [resource.kind, resource.name])).toEqual([['team', 'default']])
  const { job_id: id } = await client.push({ queue: 'later', url: 'http://127.0.0.1:9/', delay: 3600 })
  expect(id).toBeGreaterThan(Math.max(...ids.after))
  const doctor = await runRole(['doctor', '--only', 'data'], env)
  expect(doctor.out.toString()).toMatch(/^ok +data/)
  program.signal('SIGTERM')
  await program.exited
}, 120_000)

test('a folder elsewhere takes it as well, with the key and the resources of the first', async () => {
  const other = standalones.newFolder()
  cpSync(join(folder, 'key'), join(other, 'key'))
  cpSync(join(folder, 'resources'), join(other, 'resources'), { recursive: true })
  expect(await runRole(['restore', file], { PUNCTUAL_DATA_DIR: other })).toMatchObject({ code: 0 })
  const { program, client } = await standalones.start(other)
  expect((await client.send('GET', `/api/jobs/${ids.before[0]}`)).status).toBe(200)
  const doctor = await runRole(['doctor', '--only', 'secrets'], { PUNCTUAL_DATA_DIR: other })
  expect(doctor.code).toBe(0)
  program.signal('SIGTERM')
  await program.exited
}, 120_000)

/** A restore into a new folder that waits for the rest of its input. */
async function held(): Promise<{ into: string; role: HeldRole }> {
  const into = standalones.newFolder()
  const role = holdRole(['restore', '-'], { PUNCTUAL_DATA_DIR: into })
  await role.feed(readFileSync(file).subarray(0, -50))
  await until('its Redis is marked, and was found empty', async () => {
    if (!existsSync(join(into, 'redis', 'redis.sock'))) return false
    const client = new Redis(join(into, 'redis', 'redis.sock'))
    const wasEmpty = await client.hget('punctual:meta', 'wasEmpty').catch(() => null)
    client.disconnect()
    return wasEmpty === 'yes'
  })
  return { into, role }
}

test('a restore that is killed is gone on with, and nothing starts before', async () => {
  const { into: other, role } = await held()
  await role.kill()
  const program = standalones.run(other)
  expect(await program.exited).toMatchObject({ code: 2 })
  expect(program.errorLines.join()).toContain('A restore into this Redis is under way, or was broken off')
  const { code, out } = await runRole(['restore', file], { PUNCTUAL_DATA_DIR: other })
  expect([code, out.toString()]).toEqual([0, expect.stringContaining('over a restore that was broken off')])
}, 60_000)

test.each(['SIGINT', 'SIGTERM'] as const)(
  'a restore that %s ends leaves no Redis running',
  async (signal) => {
    const { into, role } = await held()
    expect(redisPid(into)).not.toBeNull()
    expect(await role.kill(signal)).toMatchObject({ code: null, signal, err: '' })
    expect(redisPid(into)).toBeNull()
    const { code, out } = await runRole(['restore', file], { PUNCTUAL_DATA_DIR: into })
    expect([code, out.toString()]).toEqual([0, expect.stringContaining('over a restore that was broken off')])
  },
)

test('no folder is made by mistake', async () => {
  const missing = join(standalones.newFolder(), 'not-there')
  const { code, err } = await runRole(['restore', file], { PUNCTUAL_DATA_DIR: missing })
  expect([code, err]).toEqual([2, expect.stringContaining('PUNCTUAL_REDIS_URL must be set, or')])
  const backup = await runRole(['backup', world.path('none')], { PUNCTUAL_DATA_DIR: missing })
  expect([backup.code, backup.err]).toEqual([2, expect.stringContaining('PUNCTUAL_REDIS_URL must be set')])
  expect(existsSync(missing)).toBe(false)
})
