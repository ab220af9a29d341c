import { type Command, Option } from 'commander'
import { cliError, MISUSED } from './cli-error.ts'
import { collect } from './command-options.ts'
import { wholeNumber } from './given-number.ts'
import { givenSeconds } from './given-time.ts'

const SWITCH = ['on', 'off'] as const

/** Settings of retries and callbacks, which queues and jobs have alike. */
export interface RetryFlags {
  readonly retries?: string
  readonly retryDelays?: string
  readonly callbackEvents?: string
}

export function addRetryOptions(command: Command, byDefault = ''): Command {
  return command
    .addOption(switchOption('--retries <state>', `whether failed jobs are retried${byDefault}`))
    .option(
      '--retry-delays <seconds>',
      `seconds before each retry, such as 10,60,600 or 10s,1m,1h${byDefault}`,
    )
    .addOption(
      new Option('--callback-events <events>', `what callbacks tell${byDefault}`).choices([
        'terminal',
        'every_attempt',
      ]),
    )
}

export function retryFields({ retries, retryDelays, callbackEvents }: RetryFlags): object {
  return {
    retries_enabled: isOn(retries),
    retry_delays: retryDelays?.split(',').map((one) => givenSeconds('--retry-delays', one.trim())),
    callback_events: callbackEvents,
  }
}

/** What call records keep of responses, which queues and crons have alike. */
export interface RecordFlags {
  readonly recordResponses?: string
}

export function recordOption(byDefault = ''): Option {
  return new Option(
    '--record-responses <what>',
    `what is kept of responses: headers and body, or the status alone${byDefault}`,
  ).choices(['all', 'none'])
}

export function switchOption(flags: string, description: string): Option {
  return new Option(flags, description).choices(SWITCH)
}

export function isOn(state: string | undefined): boolean | undefined {
  return state === undefined ? undefined : state === 'on'
}

/** Conditions of success; `false` removes all. */
export interface AssertFlags {
  readonly assert?: readonly string[] | false
}

export function addAssertOption(command: Command): Command {
  return command.option(
    '--assert <type=value>',
    'what makes a call succeed, such as body_contains=ok, status_code_equals=201 or response_time_under_ms=500; repeatable',
    collect,
  )
}

export function assertFields({ assert }: AssertFlags): object {
  if (assert === false) return { success_assertions: [] }
  if (assert === undefined) return {}
  return { success_assertions: assert.map(assertionOf) }
}

/** The API judges types and values. */
function assertionOf(text: string): object {
  const [, type, value] = /^([^=]+)=(.*)$/s.exec(text) ?? []
  if (type !== undefined) return { type, value }
  throw cliError(`--assert ${text} must be type=value, such as body_contains=ok`, MISUSED)
}

/** A number of an option, when it is given. */
export function givenNumber(flag: string, text: string | undefined): number | undefined {
  return text === undefined ? undefined : wholeNumber(flag, text)
}
