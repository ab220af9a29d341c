import { type Command, Option } from 'commander'
import { JsonText } from '../../../clients/typescript/src/client.ts'
import { cliError, MISUSED } from '../cli-error.ts'
import { changing, limitOf, type OutputFlags, paged, type PageFlags, watched } from '../command-options.ts'
import type { CommandRunner } from '../command-runner.ts'
import { visibleAscii } from '../connection/header-text.ts'
import { wholeNumber } from '../given-number.ts'
import { EDITED_QUEUE, QUEUE_LIST, QUEUE_PAGE, READ_QUEUE } from './queue-text.ts'

const SWITCH = ['on', 'off'] as const

interface EditFlags extends OutputFlags {
  /** false = no limit. */
  readonly maxParallelism?: string | false
  readonly strictParallelism?: string
  readonly timeout?: string
  readonly retries?: string
  readonly retryDelays?: string
  readonly dlqRetentionDays?: string
  readonly alerts?: string
  readonly callbackEvents?: string
  readonly ifMatch?: string
}

/** Adds `queues` and its subcommands; alone it lists. */
export function registerQueueCommands(program: Command, runner: CommandRunner): void {
  const queues = program.command('queues').description('list and manage queues')
  paged(queues.command('list', { isDefault: true }))
    .description('list queues by name')
    .action((flags: PageFlags) => {
      const page = { limit: limitOf(flags), cursor: flags.cursor }
      return runner.request(flags, (api) => api.send('listQueues', page), QUEUE_LIST)
    })
  watched(queues.command('show <id>'))
    .description('show a queue, its settings and how many jobs it holds')
    .action((id: string, flags: OutputFlags) =>
      runner.request(
        flags,
        async (api) => {
          const answer = await api.send('readQueue', { queue_id: id })
          return { ...answer, body: { ...answer.body, version: answer.headers.get('etag') } }
        },
        READ_QUEUE,
      ),
    )
  editCommand(queues).action((id: string, flags: EditFlags) =>
    runner.request(
      flags,
      async (api) => {
        const { ifMatch } = flags
        const headers = ifMatch === undefined ? {} : { 'if-match': visibleAscii(ifMatch, '--if-match') }
        const body = new JsonText(editOf(flags))
        return api.send('editQueue', { queue_id: id, body }, { headers })
      },
      EDITED_QUEUE,
    ),
  )
  for (const [action, operation, description] of [
    ['pause', 'pauseQueue', 'start no more jobs of a queue; those in flight end normally'],
    ['drain', 'drainQueue', 'take no new jobs in a queue, and let the rest run'],
    ['resume', 'resumeQueue', 'end a pause or a drain'],
  ] as const) {
    changing(queues.command(`${action} <id>`))
      .description(description)
      .action((id: string, flags: OutputFlags) =>
        runner.request(flags, (api) => api.send(operation, { queue_id: id }), QUEUE_PAGE),
      )
  }
  changing(queues.command('delete <id>'))
    .description('delete a queue with all its jobs; this cannot be undone')
    .action((id: string, flags: OutputFlags) =>
      runner.act(flags, (api) => api.send('deleteQueue', { queue_id: id }), {
        name: `queue/${id}`,
        said: `queue ${id} deleted`,
      }),
    )
}

function editCommand(queues: Command): Command {
  return changing(queues.command('edit <id>'))
    .description('change the given settings of a queue, for new jobs')
    .option('--if-match <version>', 'only this version, as queues show -o wide prints it, quotes included')
    .option('--max-parallelism <count>', 'how many jobs may run at a time')
    .option('--no-max-parallelism', 'let any number run')
    .addOption(new Option('--strict-parallelism <state>', 'never exceed it').choices(SWITCH))
    .option('--timeout <seconds>', 'timeout of the whole call')
    .addOption(new Option('--retries <state>', 'whether failed jobs are retried').choices(SWITCH))
    .option('--retry-delays <seconds>', 'seconds before each retry, such as 10,60,600')
    .option('--dlq-retention-days <days>', 'how long dead letters are kept: 3, 7, 14 or 30')
    .addOption(new Option('--alerts <state>', 'whether failures raise alerts').choices(SWITCH))
    .addOption(
      new Option('--callback-events <events>', 'what callbacks tell').choices(['terminal', 'every_attempt']),
    )
}

function editOf(flags: EditFlags): string {
  const { maxParallelism, strictParallelism, timeout, retries, retryDelays, dlqRetentionDays, alerts } = flags
  const isOn = (state: string | undefined) => (state === undefined ? undefined : state === 'on')
  const number = (flag: string, text: string | undefined) =>
    text === undefined ? undefined : wholeNumber(flag, text)
  const text = JSON.stringify({
    max_parallelism: maxParallelism === false ? null : number('--max-parallelism', maxParallelism),
    strict_parallelism: isOn(strictParallelism),
    timeout_seconds: number('--timeout', timeout),
    retries_enabled: isOn(retries),
    retry_delays: retryDelays?.split(',').map((one) => wholeNumber('--retry-delays', one.trim())),
    dlq_retention_days: number('--dlq-retention-days', dlqRetentionDays),
    alerts_enabled: isOn(alerts),
    callback_events: flags.callbackEvents,
  })
  if (text !== '{}') return text
  throw cliError('nothing to change was given (see punctual queues edit --help)', MISUSED)
}
