import { spawnSync } from 'node:child_process'
import { readdirSync, readFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import { afterAll, describe, expect, test } from 'vitest'
import { makeKeptFolder } from '../../support/engine/kept-folder.ts'
import { complaintsAbout, programCommand, runCommand, type Program } from '../../support/servers/processes.ts'
import { createStandaloneWorld, redisPid } from '../../support/servers/standalone-world.ts'
import { hang, latch } from '../../support/targets/target.ts'
import { until } from '../../support/until.ts'

const STOPPING = 'Stopping: no new work is taken, running calls get a moment'
const FORCED = 'Stopping at once: running calls are cut, and made again later'
const INIT = fileURLToPath(new URL('../../../scripts/image-init.sh', import.meta.url))
/** Nothing listens there: the role waits for its Redis. */
const WAITING_FOR_REDIS = {
  PUNCTUAL_REDIS_URL: 'redis://127.0.0.1:1',
  PUNCTUAL_SECRETS_KEY: Buffer.alloc(32, 7).toString('base64'),
  PUNCTUAL_PORT: '0',
  PUNCTUAL_OPS_PORT: '0',
  PUNCTUAL_LOG_FORMAT: 'json',
  ...makeKeptFolder().env(),
}

const { newFolder, newTarget, start, run, close } = createStandaloneWorld()
const inits: Program[] = []
afterAll(async () => {
  await close()
  for (const init of inits) if (init.isRunning()) init.signal('SIGKILL')
})

describe.concurrent('standalone told to stop', () => {
  test.each(['SIGTERM', 'SIGINT'] as const)(
    'twice within milliseconds, with its whole process group, by %s: it ends as if told once',
    async (signal) => {
      const [folder, target] = [newFolder(), await newTarget()]
      const held = latch()
      target.route('/held', held.answering)
      const { program, client } = await start(folder)
      await client.push({ queue: 'work', url: `${target.url}/held` })
      const [call] = await target.arrived('/held')
      program.signalGroup(signal)
      program.signal(signal)
      await program.logged(STOPPING)
      program.signal(signal)
      held.open()
      expect(await program.exited).toEqual({ code: 0, signal: null })
      expect(call?.wasAnswered).toBe(true)
      expect(complaintsAbout(program)).toEqual([])
      expect(redisPid(folder)).toBeNull()
    },
  )

  test('again and again for longer: the end is forced, it says so, and ends its Redis', async () => {
    const [folder, target] = [newFolder(), await newTarget()]
    target.route('/hangs', hang)
    const { program, client } = await start(folder, { PUNCTUAL_GRACE_SECONDS: '3600' })
    await client.push({ queue: 'work', url: `${target.url}/hangs`, timeout_seconds: 300 })
    await target.arrived('/hangs')
    await until('it is forced', () => {
      if (program.isRunning()) program.signal('SIGTERM')
      return program.log.some(({ msg }) => msg === FORCED)
    })
    expect(await program.exited).toEqual({ code: 1, signal: null })
    expect(redisPid(folder)).toBeNull()
  })

  test('while its Redis starts leaves none behind', async () => {
    const folder = newFolder()
    const program = run(folder)
    await until('Redis runs', () => redisPid(folder) !== null)
    program.signal('SIGTERM')
    expect(await program.exited).toEqual({ code: 0, signal: null })
    expect(redisPid(folder)).toBeNull()
  })
})

interface Member {
  readonly pid: number
  readonly name: string
  readonly catchesTerm: boolean
}

/** The processes of a PID namespace, PID 1 first, as seen from outside. */
function membersBelow(pid: number): Member[] {
  try {
    const children = readdirSync(`/proc/${pid}/task`).flatMap((task) =>
      readFileSync(`/proc/${pid}/task/${task}/children`, 'utf8').split(' ').filter(Boolean),
    )
    return children.map(Number).flatMap((child) => [memberOf(child), ...membersBelow(child)])
  } catch {
    // It ended while it was looked at.
    return []
  }
}

function memberOf(pid: number): Member {
  const status = readFileSync(`/proc/${pid}/status`, 'utf8')
  const field = (name: string) => new RegExp(`^${name}:\\s*(.*)$`, 'm').exec(status)?.[1] ?? ''
  const SIGTERM_BIT = 1n << 14n
  return { pid, name: field('Name'), catchesTerm: (BigInt(`0x${field('SigCgt')}`) & SIGTERM_BIT) !== 0n }
}

type Moment = (members: readonly Member[], program: Program) => boolean

const MOMENTS: ReadonlyArray<readonly [string, Moment]> = [
  ['its init has just begun', ([init]) => init?.catchesTerm === true],
  ['its program is there', (members) => members.length === 2],
  ['Node begins', ([init, program]) => program !== undefined && program.name !== init?.name],
  ['it waits for its Redis', (_members, { log }) => log.some(({ msg }) => msg === 'Waiting for Redis')],
]

describe.concurrent.each(['executor', 'api'])('%s in a container, told to stop', (role) => {
  test.each(MOMENTS)('when %s, ends at once', async (_moment, isMoment) => {
    // PID 1 of a namespace of its own, which is what a container is to the kernel.
    const inNamespace = ['unshare', '--pid', '--fork', '--mount-proc', '--kill-child']
    const program = runCommand(
      [...inNamespace, '/bin/sh', INIT, ...programCommand(), role],
      WAITING_FOR_REDIS,
    )
    inits.push(program)
    const init = await until('the moment is there', () => {
      const members = membersBelow(program.pid)
      return isMoment(members, program) ? members[0] : null
    })
    process.kill(init.pid, 'SIGTERM')
    const { code } = await program.exited
    // Nothing had begun, or what had begun ended well.
    expect(code).toBe(program.log.some(({ msg }) => msg === STOPPING) ? 0 : 128 + 15)
    expect(program.errorLines).toEqual([])
  })
})

describe('the init of the image', () => {
  const under = (...command: readonly string[]) =>
    spawnSync('/bin/sh', [INIT, ...command], { input: 'a body', encoding: 'utf8' })

  test('lets the program read, and answers its exit code, or 128 and the signal that ended it', () => {
    expect(under('cat')).toMatchObject({ status: 0, stdout: 'a body' })
    expect(under('sh', '-c', 'exit 7')).toMatchObject({ status: 7, stderr: '' })
    expect(under('sh', '-c', 'kill -KILL $$')).toMatchObject({ status: 128 + 9 })
  })

  test('says what it cannot start', () => {
    const { status, stderr } = under('no-such-program')
    expect([status, stderr]).toEqual([127, expect.stringContaining('no-such-program')])
  })
})
