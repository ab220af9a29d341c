import type { Command } from 'commander'
import { cliError, MISUSED } from '../cli-error.ts'
import { collect } from '../command-options.ts'
import type { CommandRunner } from '../command-runner.ts'
import { givenSeconds } from '../given-time.ts'
import { headerPairs } from '../given-pairs.ts'
import { readSource, readSourceBytes, type Stdin } from '../given-source.ts'
import { AGE_SECONDS_MAX, isVerified, type SchemeVerdict, verify } from './signature.ts'

interface VerifyFlags {
  readonly secret?: string
  readonly header: readonly string[]
  readonly body: string
  readonly maxAge: string
}

export function registerVerifyCommand(program: Command, runner: CommandRunner, stdin: Stdin): void {
  program
    .command('verify')
    .description('check the signatures of a call that was received, and fail unless they are right')
    .option('--secret <secret>', 'the signing secret as configured; @file reads a file')
    .option('-H, --header <name:value>', 'a header as received; repeatable', collect, [])
    .option('--body <text>', 'the body as received; @file reads a file, - standard input', '')
    .option('--max-age <seconds>', 'how old or how far ahead its timestamp may be', String(AGE_SECONDS_MAX))
    .action((flags: VerifyFlags) =>
      runner.local(async () => {
        const given = Object.entries(headerPairs(flags.header))
        const headers = Object.fromEntries(given.map(([name, value]) => [name.toLowerCase(), value]))
        if (flags.secret === '-' && flags.body === '-') {
          throw cliError('standard input is the secret or the body, not both', MISUSED)
        }
        const body = await readSourceBytes(flags.body, stdin)
        const secret = await secretOf(flags.secret, stdin)
        if (secret === null) throw cliError('no secret given (--secret, or --secret @file)', MISUSED)
        const ageSecondsMax = givenSeconds('--max-age', flags.maxAge)
        const verdicts = verify({ headers, body }, { secret, nowMs: Date.now(), ageSecondsMax })
        runner.say(verdicts.map((verdict) => `${verdictText(verdict)}\n`).join(''))
        if (verdicts.length === 0) throw cliError('the call is not signed')
        if (!isVerified(verdicts)) throw cliError('the call is not verified')
      }),
    )
}

/** null = no secret was given. */
export async function secretOf(given: string | undefined, stdin: Stdin): Promise<string | null> {
  if (given === undefined) return null
  const secret = (await readSource(given, stdin)).trim()
  if (secret === '') throw cliError('--secret is empty', MISUSED)
  return secret
}

export function verdictText({ scheme, fault }: SchemeVerdict): string {
  return `${scheme}: ${fault ?? 'valid'}`
}
