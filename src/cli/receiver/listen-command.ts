import { type Command, Option } from 'commander'
import { cliError, MISUSED } from '../cli-error.ts'
import type { CommandRunner } from '../command-runner.ts'
import { wholeNumber } from '../given-number.ts'
import { readSource, type Stdin } from '../given-source.ts'
import { printable } from '../output/text-table.ts'
import { CallReceiver, type Received } from './call-receiver.ts'
import { forward, type ForwardFlags } from './forward/forward-command.ts'
import { AGE_SECONDS_MAX, verify } from './signature.ts'
import { secretOf, verdictText } from './verify-command.ts'

/** A body is printed up to this length. */
const SHOWN_CHARACTERS_MAX = 16_384
const DELAY_SECONDS_MAX = 3600

/** What receives calls, and what copies them, is said by other options. */
const OF_RECEIVER = ['host', 'port', 'secret', 'status', 'delay', 'body'] as const
const OF_FORWARD = ['queue', 'server', 'token'] as const

interface ListenFlags extends Partial<ForwardFlags> {
  readonly host: string
  readonly port: string
  readonly secret?: string
  readonly status: string
  readonly delay: string
  readonly body: string
  readonly output: 'table' | 'json'
}

export interface ListenTools {
  readonly stdin: Stdin
  /** Resolves when the person at the terminal, or whoever started the program, wants it to end. */
  readonly interrupted: () => Promise<void>
  /** The clock of this machine. */
  readonly nowMs: () => number
}

export function registerListenCommand(program: Command, runner: CommandRunner, tools: ListenTools): void {
  const command = program.command('listen')
  command
    .description('receive calls on this machine, or copies of the calls of a queue, until interrupted')
    .option('--host <address>', 'address to listen on', '127.0.0.1')
    .option('--port <port>', 'port to listen on; 0 takes any', '8090')
    .option('--secret <secret>', 'verify signatures with this secret; @file reads a file')
    .option('--status <status>', 'status to answer with', '200')
    .option('--delay <seconds>', 'wait this long before each answer', '0')
    .option('--body <text>', 'body to answer with; @file reads a file', '')
    .addOption(
      new Option('-o, --output <format>', 'json: one object a line')
        .choices(['table', 'json'])
        .default('table'),
    )
    .option('--forward <url>', 'send copies of the calls of a queue there; the targets get them all the same')
    .option('--queue <queue>', 'whose calls are copied, by its name or id')
    .option('--server <url>', 'address of the API to copy from (PUNCTUAL_SERVER)')
    .option('--token <token>', 'a token of the team that may see payloads (PUNCTUAL_TOKEN)')
    .action(async (flags: ListenFlags) => {
      const { forward: url } = flags
      const isGiven = (name: string): boolean => command.getOptionValueSource(name) === 'cli'
      await runner.local(() =>
        refuseBeside(url, (url === undefined ? OF_FORWARD : OF_RECEIVER).filter(isGiven)),
      )
      if (url === undefined) await runner.local(() => listen(flags, runner, tools))
      else await forward({ ...flags, forward: url }, { runner, ...tools })
    })
}

function refuseBeside(forwardUrl: string | undefined, given: readonly string[]): void {
  const names = given.map((name) => `--${name}`).join(', ')
  if (names === '') return
  throw cliError(`${names} ${forwardUrl === undefined ? 'needs' : 'cannot stand beside'} --forward`, MISUSED)
}

async function listen(
  flags: ListenFlags,
  runner: CommandRunner,
  { stdin, interrupted }: ListenTools,
): Promise<void> {
  const secret = await secretOf(flags.secret, stdin)
  const receiver = new CallReceiver({
    host: flags.host,
    port: within('--port', flags.port, 0, 65_535),
    status: within('--status', flags.status, 200, 599),
    delayMs: within('--delay', flags.delay, 0, DELAY_SECONDS_MAX) * 1000,
    answer: await readSource(flags.body, stdin),
    onCall: (call) => {
      const at = new Date()
      const verdicts =
        secret === null ? null : verify(call, { secret, nowMs: at.getTime(), ageSecondsMax: AGE_SECONDS_MAX })
      const lines =
        verdicts === null ? [] : verdicts.length === 0 ? ['not signed'] : verdicts.map(verdictText)
      runner.say(flags.output === 'json' ? jsonLine(call, at, lines) : callText(call, at, lines))
    },
  })
  const address = await receiver.start().catch((fault: unknown) => {
    throw cliError(`cannot listen: ${fault instanceof Error ? fault.message : String(fault)}`)
  })
  if (flags.output === 'table') runner.say(`listening on ${address}\n`)
  await interrupted()
  await receiver.stop()
}

function callText(
  { method, path, rawHeaders, body }: Received,
  at: Date,
  verdicts: readonly string[],
): string {
  const headers = rawHeaders.flatMap((name, index) =>
    index % 2 === 0 ? [`${name}: ${rawHeaders[index + 1] ?? ''}`] : [],
  )
  const lines = [`${at.toISOString()}  ${method} ${path}`, ...verdicts, ...headers.map((line) => `> ${line}`)]
  if (body.length > 0)
    lines.push(
      '>',
      ...bodyText(body)
        .split('\n')
        .map((line) => `> ${line}`),
    )
  return printable(`${lines.join('\n')}\n\n`)
}

function bodyText(body: Buffer): string {
  const text = body.toString('utf8')
  if (text.length <= SHOWN_CHARACTERS_MAX) return text
  return `${text.slice(0, SHOWN_CHARACTERS_MAX)}\n(${body.length} bytes in all)`
}

function jsonLine(
  { method, path, headers, body }: Received,
  at: Date,
  signatures: readonly string[],
): string {
  return `${JSON.stringify({ at: at.toISOString(), method, path, headers, body: body.toString('utf8'), signatures })}\n`
}

function within(flag: string, text: string, min: number, max: number): number {
  const value = wholeNumber(flag, text)
  if (value >= min && value <= max) return value
  throw cliError(`${flag} must be from ${min} to ${max}`, MISUSED)
}
