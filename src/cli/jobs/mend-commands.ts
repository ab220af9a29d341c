import type { Command } from 'commander'
import { JsonText } from '../../../clients/typescript/src/client.ts'
import { changing } from '../command-options.ts'
import { idArgument } from '../connection/given-ids.ts'
import { keyOf } from '../connection/header-text.ts'
import { act, type CommandTools, remove } from '../kind-commands.ts'
import { JOB_PAGE } from './job-text.ts'
import { addWaitOption, makeJob, type WaitFlags } from './job-wait.ts'
import { addRequestOptions, addStartOptions, type JobFields, writeJobFields } from './push-body.ts'

interface ChangeFlags extends JobFields, WaitFlags {
  readonly idempotencyKey?: string
}

const JOB = { noun: 'job' }

/** Adds `retry`, `fire`, `cancel`, `replay`, `duplicate` and `delete`. */
export function registerMendCommands(program: Command, tools: CommandTools): void {
  addNewJobCommands(program, tools)
  for (const add of [
    act('fire', 'fireJob', { does: 'let a delayed job or a pending retry start now', view: JOB_PAGE }),
    act('cancel', 'cancelJob', {
      does: 'cancel a pending job that was never sent; fail if it may have been',
      view: JOB_PAGE,
      question: async (_api, id) => `Cancel job ${id}?`,
    }),
    remove('deleteJob', {
      does: 'delete a job with all its chain, unless it is in flight; this cannot be undone',
    }),
  ]) {
    add(program, JOB, tools)
  }
}

/** Those that make a job of another one. */
function addNewJobCommands(program: Command, { runner, stdin, sleep, nowMs }: CommandTools): void {
  addWaitOption(changing(program.command('retry').argument(...idArgument('job'))))
    .description('run a job of a failed chain again, as a new job')
    .action((id: string, flags: WaitFlags) =>
      makeJob(runner, { flags, sleep, make: (api) => api.send('retryJob', { job_id: id }) }),
    )
  addChangeOptions(changing(program.command('replay').argument(...idArgument('job'))))
    .description('run a dead letter again, as a new job, with the given fields in place of its own')
    .action((id: string, flags: ChangeFlags) =>
      makeJob(runner, {
        flags,
        sleep,
        make: async (api) =>
          api.send('replayJob', { job_id: id, body: await bodyOf(flags, { stdin, nowMs }) }),
      }),
    )
  addStartOptions(addChangeOptions(changing(program.command('duplicate').argument(...idArgument('job')))))
    .description('push a copy of a job, with the given fields in place of its own')
    .option('--queue <name>', 'another queue')
    .action((id: string, flags: ChangeFlags) =>
      makeJob(runner, {
        flags,
        sleep,
        make: async (api) => {
          const key = keyOf(flags.idempotencyKey)
          const body = await bodyOf(flags, { stdin, nowMs })
          return api.send('duplicateJob', { job_id: id, body, idempotency_key: key })
        },
      }),
    )
}

function addChangeOptions(command: Command): Command {
  return addRequestOptions(addWaitOption(command).option('--url <url>', 'another URL'), () => '')
    .option('--no-payload', 'send no payload')
    .option('--no-body', 'send no body')
    .option('--no-header', 'send none of its headers')
    .option('--no-header-secret', 'take no header from a header secret')
    .option('--no-callback-url', 'report its end nowhere')
    .option('--no-tag', 'remove its tags')
}

async function bodyOf(flags: ChangeFlags, sources: Pick<CommandTools, 'stdin' | 'nowMs'>): Promise<JsonText> {
  return new JsonText(await writeJobFields(flags, sources))
}
