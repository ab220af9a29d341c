import { type Command, Option } from 'commander'
import { cliError, MISUSED } from '../cli-error.ts'
import type { CommandRunner } from '../command-runner.ts'
import { wholeNumber } from '../given-number.ts'
import { givenRate } from '../given-rate.ts'
import { PLAN_PAGE } from './plan-text.ts'
import { planCapacity } from './capacity-plan.ts'

interface PlanFlags {
  readonly jobsPerSecond?: string
  readonly queues?: string
  readonly callMs?: string
  readonly jobsPerRequest: string
  readonly jobBytes: string
  readonly waitingJobs?: string
  readonly rateLimit?: string
  readonly output: 'table' | 'json' | 'yaml'
  readonly json?: true
}

/** The least and the most of each figure that a plan is made for. */
const BOUNDS = {
  jobsPerSecond: [1, 10_000_000],
  queues: [1, 10_000_000],
  callMs: [1, 300_000],
  jobsPerRequest: [1, 1000],
  jobBytes: [1, 1_048_576],
  waitingJobs: [0, 10_000_000_000],
} as const
/** The default of waiting jobs is what is pushed in this many seconds, for an outage of all targets. */
const OUTAGE_SECONDS = 600

export function registerPlanCommand(program: Command, runner: CommandRunner): void {
  const format = new Option('-o, --output <format>', 'how the plan is printed')
  program
    .command('plan')
    .description('print the pods, cores, Redis primaries, memory and connections that a load takes')
    .option('--jobs-per-second <number>', 'jobs pushed and called each second')
    .option('--queues <number>', 'queues that have jobs at the same time')
    .option('--call-ms <number>', 'how long a target takes to answer, on average')
    .option('--jobs-per-request <number>', 'jobs that a client pushes in one request', '1')
    .option('--job-bytes <number>', 'the JSON of a job', '152')
    .option('--waiting-jobs <number>', 'jobs waiting or delayed at most (default: the pushes of ten minutes)')
    .option('--rate-limit <calls>', 'the rate limit of each queue, such as 10/s or 600/1m; or none')
    .addOption(format.choices(['table', 'json', 'yaml']).default('table'))
    .option('--json', 'the same as -o json')
    .action((flags: PlanFlags) =>
      runner.local(() => {
        const jobsPerSecond = given('jobsPerSecond', flags.jobsPerSecond)
        const body = planCapacity({
          jobsPerSecond,
          queues: given('queues', flags.queues),
          callMs: given('callMs', flags.callMs),
          batch: given('jobsPerRequest', flags.jobsPerRequest),
          jobBytes: given('jobBytes', flags.jobBytes),
          waitingJobs:
            flags.waitingJobs === undefined
              ? jobsPerSecond * OUTAGE_SECONDS
              : given('waitingJobs', flags.waitingJobs),
          rateLimit: flags.rateLimit === undefined ? null : givenRate('--rate-limit', flags.rateLimit),
        })
        const output = flags.json === true ? 'json' : flags.output
        runner.print({ output }, { text: JSON.stringify(body, null, 2), body }, PLAN_PAGE)
      }),
    )
}

function given(name: keyof typeof BOUNDS, text: string | undefined): number {
  const flag = `--${name.replaceAll(/[A-Z]/g, (letter) => `-${letter.toLowerCase()}`)}`
  if (text === undefined) throw cliError(`${flag} is needed`, MISUSED)
  const number = wholeNumber(flag, text)
  const [least, most] = BOUNDS[name]
  if (number >= least && number <= most) return number
  throw cliError(`${flag} ${text} is not a number from ${least} to ${most}`, MISUSED)
}
