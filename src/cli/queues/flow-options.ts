import { type Command, Option } from 'commander'
import { cliError, MISUSED } from '../cli-error.ts'
import { wholeNumber } from '../given-number.ts'
import { givenRate } from '../given-rate.ts'
import { isOn, switchOption } from '../given-settings.ts'

/** How fast a target is called, and after what not again. */
export interface FlowFlags {
  readonly rateLimit?: string
  readonly respectRetryAfter?: string
  readonly circuitBreaker?: string
  readonly noRetryStatuses?: string
  readonly retryJitter?: string
}

/** What ends a setting. */
const NONE = 'none'

export function addFlowOptions(command: Command): Command {
  const noRetryStatuses = new Option(
    '--no-retry-statuses <statuses>',
    'answers that are not retried, such as 410,404; or none',
  )
  // By its name it would be the opposite of a --retry-statuses.
  noRetryStatuses.negate = false
  return command
    .option('--rate-limit <calls>', 'how many calls may begin, such as 10/s or 600/1m; or none')
    .addOption(switchOption('--respect-retry-after <state>', 'whether Retry-After of a target counts'))
    .option(
      '--circuit-breaker <parts>',
      'when a target that fails is left alone: default, none, or such as percent=50,calls=10,window=60,open=30',
    )
    .addOption(noRetryStatuses)
    .option('--retry-jitter <percent>', 'by how much each retry delay is lengthened at random at most')
}

/** The API judges the numbers. */
export function flowFields(flags: FlowFlags): object {
  const { rateLimit, respectRetryAfter, circuitBreaker, noRetryStatuses, retryJitter } = flags
  return {
    rate_limit: rateLimit === undefined ? undefined : givenRate('--rate-limit', rateLimit),
    respect_retry_after: isOn(respectRetryAfter),
    circuit_breaker: circuitBreaker === undefined ? undefined : givenBreaker(circuitBreaker),
    no_retry_statuses: noRetryStatuses === undefined ? undefined : givenStatuses(noRetryStatuses),
    retry_jitter_percent:
      retryJitter === undefined ? undefined : wholeNumber('--retry-jitter', retryJitter.replace(/%$/, '')),
  }
}

const BREAKER_PARTS: Readonly<Record<string, string>> = {
  percent: 'failure_percent',
  calls: 'min_calls',
  window: 'window_seconds',
  open: 'open_seconds',
}

function givenBreaker(text: string): object | null {
  if (text === NONE) return null
  if (text === 'default') return {}
  const parts = text.split(',').map((part) => {
    const [, name = '', value = ''] = /^([a-z]+)=(.+)$/.exec(part.trim()) ?? []
    const field = Object.hasOwn(BREAKER_PARTS, name) ? BREAKER_PARTS[name] : undefined
    if (field !== undefined) return [field, wholeNumber(`--circuit-breaker ${name}`, value)] as const
    const form = 'default, none, or parts such as percent=50,calls=10,window=60,open=30'
    throw cliError(`--circuit-breaker ${JSON.stringify(part)} is not one of: ${form}`, MISUSED)
  })
  const names = parts.map(([field]) => field)
  if (new Set(names).size < names.length) {
    throw cliError(`--circuit-breaker ${JSON.stringify(text)} names a part twice`, MISUSED)
  }
  return Object.fromEntries(parts)
}

function givenStatuses(text: string): readonly number[] {
  if (text === NONE) return []
  return text.split(',').map((one) => wholeNumber('--no-retry-statuses', one.trim()))
}
