import type { Command } from 'commander'
import { Option } from 'commander'
import { cliError, MISUSED } from '../cli-error.ts'
import { changing, type OutputFlags } from '../command-options.ts'
import { QUEUE_ARGUMENT } from '../connection/given-ids.ts'
import { addDataOption, type DataFlags, withData } from '../given-data.ts'
import {
  addAssertOption,
  addRetryOptions,
  type AssertFlags,
  assertFields,
  givenNumber,
  isOn,
  type RetryFlags,
  retryFields,
  switchOption,
} from '../given-settings.ts'
import type { Stdin } from '../given-source.ts'

export interface QueueEditFlags extends OutputFlags, RetryFlags, AssertFlags, DataFlags {
  /** false = no limit. */
  readonly maxParallelism?: string | false
  readonly strictParallelism?: string
  readonly timeout?: string
  readonly dlqRetentionDays?: string
  readonly alerts?: string
  readonly ifMatch?: string
}

export function editQueueCommand(queues: Command): Command {
  const command = changing(queues.command('edit').argument(...QUEUE_ARGUMENT))
    .description('change the given settings of a queue, for new jobs')
    .option('--if-match <version>', 'only this version, as queues show -o wide prints it, quotes included')
    .option('--max-parallelism <count>', 'how many jobs may run at a time')
    .option('--no-max-parallelism', 'let any number run')
    .addOption(switchOption('--strict-parallelism <state>', 'never exceed it'))
    .option('--timeout <seconds>', 'timeout of the whole call')
  addAssertOption(addRetryOptions(command))
    .option('--no-assert', 'let any 2xx succeed')
    .addOption(
      new Option('--dlq-retention-days <days>', 'how long dead letters are kept').choices([
        ...['3', '7', '14', '30'],
      ]),
    )
    .addOption(switchOption('--alerts <state>', 'whether failures raise alerts'))
  return addDataOption(command)
}

/** The body of an edit. */
export async function writeQueueEdit(flags: QueueEditFlags, stdin: Stdin): Promise<string> {
  const { maxParallelism, strictParallelism, timeout, dlqRetentionDays, alerts } = flags
  const fields = JSON.stringify({
    max_parallelism: maxParallelism === false ? null : givenNumber('--max-parallelism', maxParallelism),
    strict_parallelism: isOn(strictParallelism),
    timeout_seconds: givenNumber('--timeout', timeout),
    ...retryFields(flags),
    ...assertFields(flags),
    dlq_retention_days: givenNumber('--dlq-retention-days', dlqRetentionDays),
    alerts_enabled: isOn(alerts),
  })
  const text = await withData(flags.data, fields, stdin)
  if (text !== '{}') return text
  throw cliError('nothing to change was given (see punctual queues edit --help)', MISUSED)
}
