import { bytesBetween, fractionBetween, integerBetween, optional } from './parsers.ts'
import { setting } from './setting.ts'

export const EXECUTOR_CONCURRENCY_MAX = 20_000
const SHARE_MIN = 0.5
const SHARE_MAX = 0.99
/** A team's share of less could not hold the largest job. */
const CALL_BYTES_MIN = 16 * 1024 ** 2
const CALL_BYTES_MAX = 1024 ** 4

/** What bounds the calls of an executor. */
export const CAPACITY_SETTINGS = Object.freeze({
  executorConcurrency: setting({
    variable: 'PUNCTUAL_EXECUTOR_CONCURRENCY',
    placeholder: 'number',
    help: 'HTTP calls at once per executor',
    initial: 1000,
    parse: integerBetween(1, EXECUTOR_CONCURRENCY_MAX),
  }),
  concurrencyReserve: setting({
    variable: 'PUNCTUAL_CONCURRENCY_RESERVE',
    placeholder: 'number',
    help: 'calls beside those, so that a team finds room where another takes all; 0 carves the shares out of them',
    initial: null,
    initialText: 'what lets a lone team make all of them',
    parse: optional(integerBetween(0, EXECUTOR_CONCURRENCY_MAX)),
  }),
  teamShare: setting({
    variable: 'PUNCTUAL_TEAM_SHARE',
    placeholder: 'number',
    help: 'most that one team takes of the calls and of their memory',
    initial: 0.9,
    parse: fractionBetween(SHARE_MIN, SHARE_MAX),
  }),
  queueShare: setting({
    variable: 'PUNCTUAL_QUEUE_SHARE',
    placeholder: 'number',
    help: 'most that one queue takes of them, beside others of its team',
    initial: 0.8,
    parse: fractionBetween(SHARE_MIN, SHARE_MAX),
  }),
  callBytes: setting({
    variable: 'PUNCTUAL_CALL_BYTES',
    placeholder: 'bytes',
    help: 'memory for jobs being called, such as 512MiB or 2g',
    initial: null,
    initialText: "half of Node's heap limit",
    parse: optional(
      bytesBetween(
        CALL_BYTES_MIN,
        CALL_BYTES_MAX,
        'bytes from 16MiB to 1TiB, such as 512MiB, 1g or 1073741824',
      ),
    ),
  }),
})
