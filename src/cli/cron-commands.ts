import type { Command } from 'commander'
import type {
  Cron,
  CronList,
  CronPreview,
  CronRunList,
  CreatedCron,
  StartedRun,
} from '../contract/generated/wire.ts'
import { shown } from './answer-text.ts'
import type { ApiConnection } from './api-connection.ts'
import {
  type CreateFlags,
  describedAsEdit,
  describedAsNew,
  type EditFlags,
  writeCronEdit,
  writeNewCron,
} from './cron-body.ts'
import { cronPage, cronTable, previewText, runTable } from './cron-text.ts'
import { idempotencyHeader } from './header-text.ts'
import { wholeNumber } from './push-body.ts'
import {
  type ConnectionFlags,
  connected,
  type OutputFlags,
  paged,
  type PageFlags,
  searchOf,
} from './verb-options.ts'

export interface CronCommandParts {
  /** Connects, and turns what goes wrong into one line. */
  readonly run: (flags: ConnectionFlags, act: (api: ApiConnection) => Promise<void>) => Promise<void>
  readonly say: (text: string) => void
  readonly stdin: AsyncIterable<Uint8Array | string>
}

interface PreviewFlags extends OutputFlags {
  readonly zone?: string
  readonly count?: string
}

/** Adds the verb `crons` with a verb of its own for each thing to do; alone it lists. */
export function registerCronCommands(program: Command, parts: CronCommandParts): void {
  const crons = program.command('crons').description('list crons, and work with them')
  registerReading(crons, parts)
  registerMaking(crons, parts)
  registerActing(crons, parts)
}

function registerReading(crons: Command, { run, say }: CronCommandParts): void {
  paged(connected(crons.command('list', { isDefault: true }), 'table'))
    .description('list crons')
    .action((flags: PageFlags) =>
      run(flags, async (api) => {
        const text = await api.get(`/api/crons${pageSearch(flags)}`)
        say(shown(flags, text, () => cronTable(JSON.parse(text) as CronList)))
      }),
    )
  connected(crons.command('show <id>'), 'text')
    .description('show a cron: when it runs, and how it went last')
    .action((id: string, flags: OutputFlags) =>
      run(flags, async (api) => {
        const text = await api.get(pathOf(id))
        say(shown(flags, text, () => cronPage(JSON.parse(text) as Cron)))
      }),
    )
  paged(connected(crons.command('runs <id>'), 'table'))
    .description('list what became of the last ticks of a cron')
    .action((id: string, flags: PageFlags) =>
      run(flags, async (api) => {
        const text = await api.get(`${pathOf(id)}/runs${pageSearch(flags)}`)
        say(shown(flags, text, () => runTable(JSON.parse(text) as CronRunList)))
      }),
    )
}

function registerMaking(crons: Command, { run, say, stdin }: CronCommandParts): void {
  describedAsNew(connected(crons.command('create <name> <expression> <url>'), 'text'))
    .description('make a cron; the expression has five fields, such as "0 9 * * MON-FRI"')
    .action((name: string, expression: string, url: string, flags: CreateFlags) =>
      run(flags, async (api) => {
        const body = await writeNewCron({ name, expression, url }, flags, stdin)
        const text = await api.post('/api/crons', body, idempotencyHeader(flags.idempotencyKey))
        say(shown(flags, text, () => createdLine(JSON.parse(text) as CreatedCron)))
      }),
    )
  describedAsEdit(connected(crons.command('edit <id>'), 'text'))
    .description('change what is said of a cron, and leave the rest')
    .action((id: string, flags: EditFlags) =>
      run(flags, async (api) => {
        const text = await api.patch(pathOf(id), await writeCronEdit(flags, stdin))
        say(shown(flags, text, () => cronPage(JSON.parse(text) as Cron)))
      }),
    )
  connected(crons.command('preview <expression>'), 'text')
    .description('say in words when an expression ticks, and its next ticks; makes nothing')
    .option('--zone <zone>', 'time zone of the expression (default: UTC)')
    .option('--count <count>', 'so many ticks, up to 100 (default: 5)')
    .action((expression: string, flags: PreviewFlags) =>
      run(flags, async (api) => {
        const { zone, count } = flags
        const body = JSON.stringify({
          cron_expression: expression,
          ...(zone !== undefined && { time_zone: zone }),
          ...(count !== undefined && { count: wholeNumber('--count', count) }),
        })
        const text = await api.post('/api/crons/preview', body)
        say(shown(flags, text, () => previewText(JSON.parse(text) as CronPreview)))
      }),
    )
}

function registerActing(crons: Command, { run, say }: CronCommandParts): void {
  connected(crons.command('run <id>'), 'text')
    .description('run a cron now, beside its ticks')
    .action((id: string, flags: OutputFlags) =>
      run(flags, async (api) => {
        const text = await api.post(`${pathOf(id)}/run`, '')
        say(shown(flags, text, () => startedLine(JSON.parse(text) as StartedRun)))
      }),
    )
  for (const [verb, description] of [
    ['pause', 'let a cron tick no more'],
    ['resume', 'let a paused cron tick from now on'],
  ] as const) {
    connected(crons.command(`${verb} <id>`), 'text')
      .description(description)
      .action((id: string, flags: OutputFlags) =>
        run(flags, async (api) => {
          const text = await api.post(`${pathOf(id)}/${verb}`, '')
          say(shown(flags, text, () => cronPage(JSON.parse(text) as Cron)))
        }),
      )
  }
  connected(crons.command('delete <id>'), 'text')
    .description('delete a cron; runs in flight end')
    .action((id: string, flags: OutputFlags) =>
      run(flags, async (api) => {
        await api.delete(pathOf(id))
        say(flags.output === 'json' ? '' : `cron ${id} is gone\n`)
      }),
    )
}

function createdLine({ id, next_run_at: next }: CreatedCron): string {
  return next === null ? `cron ${id}, paused\n` : `cron ${id}, next run at ${next}\n`
}

function startedLine(started: StartedRun): string {
  return `job ${started.job_id} of cron ${started.cron_id}\n`
}

function pageSearch({ limit, cursor }: PageFlags): string {
  return searchOf({ limit, cursor })
}

function pathOf(id: string): string {
  return `/api/crons/${encodeURIComponent(id)}`
}
