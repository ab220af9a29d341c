import { bytesBetween, fractionBetween, integerBetween, optional } from '../parsers.ts'
import { setting } from '../setting.ts'

export const EXECUTOR_CONCURRENCY_MAX = 20_000
const SHARE_MIN = 0.5
const SHARE_MAX = 0.99
/** Lower bound: a team's share of less could not hold the largest job. */
const CALL_BYTES_MIN = 16 * 1024 ** 2
const CALL_BYTES_MAX = 1024 ** 4

const CALLS = ['standalone', 'executor'] as const

/** Settings that bound the calls of an executor. */
export const CAPACITY_SETTINGS = Object.freeze({
  executorConcurrency: setting({
    roles: CALLS,
    variable: 'PUNCTUAL_EXECUTOR_CONCURRENCY',
    placeholder: 'number',
    help: 'concurrent HTTP calls per executor',
    initial: 1000,
    parse: integerBetween(1, EXECUTOR_CONCURRENCY_MAX),
  }),
  concurrencyReserve: setting({
    roles: CALLS,
    variable: 'PUNCTUAL_CONCURRENCY_RESERVE',
    placeholder: 'number',
    help: 'further calls, so that a team finds room while another uses all of the above; with 0 the room comes out of those',
    initial: null,
    initialText: 'enough for a lone team to make all of them',
    parse: optional(integerBetween(0, EXECUTOR_CONCURRENCY_MAX)),
  }),
  teamShare: setting({
    roles: CALLS,
    variable: 'PUNCTUAL_TEAM_SHARE',
    placeholder: 'number',
    help: 'largest part of the calls and of their memory that one team may use',
    initial: 0.9,
    parse: fractionBetween(SHARE_MIN, SHARE_MAX),
  }),
  queueShare: setting({
    roles: CALLS,
    variable: 'PUNCTUAL_QUEUE_SHARE',
    placeholder: 'number',
    help: 'largest part that one queue may use beside other queues of its team',
    initial: 0.8,
    parse: fractionBetween(SHARE_MIN, SHARE_MAX),
  }),
  callBytes: setting({
    roles: CALLS,
    variable: 'PUNCTUAL_CALL_BYTES',
    placeholder: 'bytes',
    help: 'memory for the jobs of running calls, such as 512MiB or 2g',
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
