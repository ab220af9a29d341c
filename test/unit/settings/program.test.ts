import type { Command } from 'commander'
import { describe, expect, it } from 'vitest'
import { StartupError } from '../../../src/domain/errors.ts'
import { buildProgram, type ProgramOptions, runProgram } from '../../../src/settings/program.ts'
import { ROLE_TABLES } from '../../../src/settings/role-settings.ts'
import type { Environment } from '../../../src/settings/setting.ts'

interface Run {
  readonly code: number
  readonly out: string
  readonly err: string
  readonly started: ReadonlyArray<readonly [role: string, settings: unknown]>
}

async function run(
  args: readonly string[],
  options: {
    env?: Environment
    fail?: Error
    isHealthy?: boolean
    client?: ProgramOptions['registerClientCommands']
  } = {},
): Promise<Run> {
  const started: Array<readonly [string, unknown]> = []
  let out = ''
  let err = ''
  const role = (name: string) => async (settings: unknown) => {
    started.push([name, settings])
    if (options.fail !== undefined) throw options.fail
  }
  const program = buildProgram({
    version: '1.2.3',
    env: options.env ?? {},
    roles: {
      standalone: role('standalone'),
      controller: role('controller'),
      api: role('api'),
      executor: role('executor'),
      backup: role('backup'),
      restore: role('restore'),
      prepare: role('prepare'),
      uninstall: role('uninstall'),
      doctor: async (settings: unknown) => {
        await role('doctor')(settings)
        return options.isHealthy ?? true
      },
    },
    output: { writeOut: (text) => void (out += text), writeErr: (text) => void (err += text) },
    ...(options.client === undefined ? {} : { registerClientCommands: options.client }),
  })
  const code = await runProgram(program, ['node', 'punctual', ...args], (text) => void (err += text))
  return { code, out, err, started }
}

describe('a role', () => {
  it('gets its settings from flags and variables', async () => {
    const result = await run(['standalone', '--port', '1', '--ops-port=2', '--allow-unsafe-redis'], {
      env: { PUNCTUAL_SHARDS: '8' },
    })
    expect(result).toMatchObject({ code: 0, err: '' })
    expect(result.started).toMatchObject([
      ['standalone', { port: 1, opsPort: 2, shards: 8, allowUnsafeRedis: true }],
    ])
  })

  it.each(Object.entries(ROLE_TABLES))(
    '%s --help lists every flag with its variable and default',
    async (role, table) => {
      const { out, code } = await run([role, '--help'])
      expect(code).toBe(0)
      const text = out.replaceAll(/\s+/g, ' ')
      for (const setting of Object.values(table)) {
        const flag = `--${setting.variable.slice(9).toLowerCase().replaceAll('_', '-')}`
        expect(text).toContain(`${flag} `)
        expect(text).toContain(`(${setting.variable}, default: ${setting.initialText})`)
      }
    },
  )

  it('ends with 1 and the stack when it fails by a fault', async () => {
    const result = await run(['standalone'], { fail: new Error('boom') })
    expect(result.code).toBe(1)
    expect(result.err).toContain('punctual: Error: boom')
  })

  it('ends with 2 and one line when the person can mend it', async () => {
    const result = await run(['standalone'], { fail: new StartupError('Port 8080 is taken.') })
    expect(result).toMatchObject({ code: 2, err: 'punctual: Port 8080 is taken.\n' })
  })
})

describe('the doctor', () => {
  it.each([
    [true, 0],
    [false, 1],
  ])('that answers %s ends with %i, without a word of its own', async (isHealthy, code) => {
    expect(await run(['doctor'], { isHealthy })).toMatchObject({ code, out: '', err: '' })
  })

  it('ends with 2 when it could not look', async () => {
    const fail = new StartupError('Redis went away.')
    expect(await run(['doctor'], { fail })).toMatchObject({ code: 2, err: 'punctual: Redis went away.\n' })
  })
})

describe('a mistake on the command line', () => {
  it.each([
    [['standalone', '--prot', '1'], "unknown option '--prot'"],
    [['standalone', '--port'], 'argument missing'],
    [['standalone', 'extra'], 'too many arguments'],
    [['fly'], "unknown command 'fly'"],
    [['standalone', '--port', 'x'], '--port is "x"'],
    [['executor', '--port', '1'], "unknown option '--port'"],
  ])('%j ends with 2 and one clear line', async (args, text) => {
    const result = await run(args)
    expect(result.code).toBe(2)
    expect(result.err).toContain(text)
    expect(result.err.startsWith('punctual: ')).toBe(true)
    expect(result.err.trim()).not.toContain('\n')
    expect(result.started).toEqual([])
  })

  it('no command prints the help and ends with 2', async () => {
    const result = await run([])
    expect(result.code).toBe(2)
    expect(result.err).toContain('Usage: punctual')
  })
})

it('--version prints it', async () => {
  expect(await run(['--version'])).toMatchObject({ code: 0, out: '1.2.3\n' })
})

it('client verbs are part of the program and share its way of refusing', async () => {
  const client = (program: Command) => void program.command('jobs').action(() => undefined)
  expect(await run(['jobs'], { client })).toMatchObject({ code: 0 })
  const refused = await run(['jobs', '--what'], { client })
  expect(refused).toMatchObject({ code: 2, err: "punctual: unknown option '--what'\n" })
})

describe('the client verbs get', () => {
  it.each([
    ['the defaults', {}, { server: null, token: null, dataDir: '.punctual' }],
    [
      'the defaults for empty variables',
      { PUNCTUAL_SERVER: '', PUNCTUAL_TOKEN: ' ', PUNCTUAL_DATA_DIR: ' ' },
      { server: null, token: null, dataDir: '.punctual' },
    ],
    [
      'their variables',
      { PUNCTUAL_SERVER: 'http://host/base ', PUNCTUAL_TOKEN: 'secret\n', PUNCTUAL_DATA_DIR: '/data' },
      { server: 'http://host/base', token: 'secret', dataDir: '/data' },
    ],
  ])('%s', async (_, env, expected) => {
    const seen: unknown[] = []
    const client = (program: Command, settings: unknown) => {
      seen.push(settings)
      program.command('jobs').action(() => undefined)
    }
    expect(await run(['jobs'], { env, client })).toMatchObject({ code: 0, err: '' })
    expect(seen).toEqual([expected])
  })
})
