import { randomUUID } from 'node:crypto'
import { CommanderError } from 'commander'
import { cliError, FAILED, UNAVAILABLE } from '../../cli-error.ts'
import type { OutputFlags } from '../../command-options.ts'
import type { CommandRunner } from '../../command-runner.ts'
import { visibleAscii } from '../../connection/header-text.ts'
import type { Api } from '../../connection/api.ts'
import type { Stdin } from '../../given-source.ts'
import type { ProgressBar } from '../../output/progress-bar.ts'
import { printable, withoutControls } from '../../output/text-table.ts'
import { yamlOf } from '../../output/yaml.ts'
import { type BatchResult, isPassing, sendBatch } from './batch-sending.ts'
import { type BatchedLine, batchedLine } from './batched-push.ts'
import { batchesOf, chunksOf } from './given-lines.ts'

export interface PushFileFlags extends OutputFlags {
  readonly idempotencyPrefix?: string
}

export interface PushFileTools {
  readonly stdin: Stdin
  readonly sleep: (milliseconds: number) => Promise<void>
}

type Outcome = { readonly line: number } & (
  | BatchResult
  | { readonly status: 'invalid'; readonly message: string }
)

/**
 * Pushes the lines of a file, batch after batch, and says what became of each. It ends early when the API takes no more
 * for now; whoever runs it again under the same prefix pushes nothing twice.
 */
export function pushFile(
  { file, flags }: { readonly file: string; readonly flags: PushFileFlags },
  runner: CommandRunner,
  tools: PushFileTools,
): Promise<void> {
  return runner.run(flags, async (api) => {
    const prefix = visibleAscii(flags.idempotencyPrefix ?? randomUUID(), '--idempotency-prefix')
    const bar = runner.progressBar()
    const total = { pushed: 0, refused: 0 }
    try {
      for await (const batch of batchesOf(chunksOf(file, tools.stdin))) {
        const lines = batch.map((line) => batchedLine(line, prefix))
        const outcomes = await sendLines(api, lines, { prefix, sleep: tools.sleep })
        tellBatch(runner, flags, { outcomes, bar, total })
        bar.update(total.pushed + total.refused, null, 'lines')
        if (outcomes.some((outcome) => outcome.status !== 'invalid' && isPassing(outcome)))
          throw cliError(
            `stopped after line ${lines.at(-1)?.number}, ${total.pushed} lines pushed; ${againText(prefix)}`,
            UNAVAILABLE,
          )
      }
    } finally {
      bar.end()
    }
    const { pushed, refused } = total
    if (flags.output === 'table' || flags.output === 'wide')
      runner.say(`${pushed} of ${pushed + refused} lines pushed\n`)
    if (refused > 0) throw cliError(`${refused} of ${pushed + refused} lines were refused`, FAILED)
  })
}

async function sendLines(
  api: Api,
  lines: readonly BatchedLine[],
  { prefix, sleep }: { readonly prefix: string; readonly sleep: PushFileTools['sleep'] },
): Promise<readonly Outcome[]> {
  const pushes = lines.flatMap((line) => ('push' in line ? [line.push] : []))
  try {
    const results = pushes.length === 0 ? [] : await sendBatch(api, pushes, sleep)
    const next = results.values()
    return lines.map((line): Outcome => {
      if ('problem' in line) return { line: line.number, status: 'invalid', message: line.problem }
      const { value } = next.next()
      if (value === undefined) throw new Error('A push has no result.')
      return { line: line.number, ...value }
    })
  } catch (fault) {
    if (!(fault instanceof CommanderError)) throw fault
    const where = `lines ${lines[0]?.number} to ${lines.at(-1)?.number}`
    const again = fault.exitCode === UNAVAILABLE ? `; ${againText(prefix)}` : ''
    throw new CommanderError(fault.exitCode, fault.code, `${where}: ${fault.message}${again}`)
  }
}

function againText(prefix: string): string {
  return `run it again with --idempotency-prefix ${prefix}, which pushes no line twice`
}

interface BatchOutcome {
  readonly outcomes: readonly Outcome[]
  readonly bar: ProgressBar
  readonly total: { pushed: number; refused: number }
}

function tellBatch(runner: CommandRunner, flags: OutputFlags, { outcomes, bar, total }: BatchOutcome): void {
  let out = ''
  let err = ''
  for (const outcome of outcomes) {
    const isPushed = outcome.status === 201
    total[isPushed ? 'pushed' : 'refused'] += 1
    out += outputLine(outcome, flags.output)
    if (!isPushed) err += printable(`punctual: line ${outcome.line}: ${outcome.message}\n`)
  }
  if (out !== '' || err !== '') bar.end()
  if (out !== '') runner.say(out)
  if (err !== '') runner.warn(err)
}

function outputLine(outcome: Outcome, output: OutputFlags['output']): string {
  switch (output) {
    case 'json':
      return `${JSON.stringify(outcome)}\n`
    case 'yaml':
      return withoutControls(yamlOf([outcome]))
    case 'name':
      return outcome.status === 201 ? `job/${outcome.job_id}\n` : ''
    case 'wide':
      return outcome.status === 201 ? printable(`line ${outcome.line}: ${jobText(outcome)}\n`) : ''
    default:
      return ''
  }
}

function jobText(job: Extract<BatchResult, { status: 201 }>): string {
  return `job ${job.job_id} in queue ${job.queue_id}, scheduled at ${job.scheduled_at}`
}
