import type { Command } from 'commander'
import { Option } from 'commander'
import type { OutputFlags } from '../command-options.ts'
import { addDataOption, type DataFlags } from '../given-data.ts'
import { maybeSeconds } from '../given-time.ts'
import {
  addAssertOption,
  addRetryOptions,
  type AssertFlags,
  assertFields,
  givenNumber,
  isOn,
  type RecordFlags,
  recordOption,
  type RetryFlags,
  retryFields,
  switchOption,
} from '../given-settings.ts'
import { addFlowOptions, type FlowFlags, flowFields } from './flow-options.ts'

interface QueueEditFlags extends OutputFlags, RetryFlags, FlowFlags, AssertFlags, RecordFlags, DataFlags {
  /** false = no limit. */
  readonly maxParallelism?: string | false
  readonly strictParallelism?: string
  readonly timeout?: string
  readonly dlqRetentionDays?: string
  readonly alerts?: string
}

export function addEditOptions(edit: Command): Command {
  const command = edit
    .option('--max-parallelism <count>', 'how many jobs may run at a time')
    .option('--no-max-parallelism', 'let any number run')
    .addOption(switchOption('--strict-parallelism <state>', 'never exceed it'))
    .option('--timeout <seconds>', 'timeout of the whole call')
  addAssertOption(addFlowOptions(addRetryOptions(command)))
    .option('--no-assert', 'let any 2xx succeed')
    .addOption(
      new Option('--dlq-retention-days <days>', 'how long dead letters are kept').choices([
        '3',
        '7',
        '14',
        '30',
      ]),
    )
    .addOption(switchOption('--alerts <state>', 'whether failures raise alerts'))
    .addOption(recordOption())
  return addDataOption(command)
}

interface ReasonFlags extends OutputFlags {
  readonly reason?: string
}

export function addReason(command: Command): Command {
  return command.option('--reason <text>', 'why, for those who look at the queue')
}

export function reasonFields({ flags: { reason } }: { readonly flags: ReasonFlags }): object | null {
  return reason === undefined ? null : { reason }
}

/** @param given.args the name */
export function newFields({
  args: [name],
  flags,
}: {
  readonly args: readonly (string | undefined)[]
  readonly flags: QueueEditFlags
}): object {
  return { name, ...editedFields({ flags }) }
}

export function editedFields({ flags }: { readonly flags: QueueEditFlags }): object {
  const { maxParallelism, strictParallelism, timeout, dlqRetentionDays, alerts, recordResponses } = flags
  return {
    max_parallelism: maxParallelism === false ? null : givenNumber('--max-parallelism', maxParallelism),
    strict_parallelism: isOn(strictParallelism),
    timeout_seconds: maybeSeconds('--timeout', timeout),
    ...retryFields(flags),
    ...flowFields(flags),
    ...assertFields(flags),
    dlq_retention_days: givenNumber('--dlq-retention-days', dlqRetentionDays),
    alerts_enabled: isOn(alerts),
    record_responses: recordResponses,
  }
}
