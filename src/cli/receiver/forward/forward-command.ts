import { cliError, MISUSED, NOT_PERMITTED } from '../../cli-error.ts'
import type { ConnectionFlags } from '../../command-options.ts'
import type { CommandRunner } from '../../command-runner.ts'
import type { Api } from '../../connection/api.ts'
import { queueNameOf } from '../../connection/named-ids.ts'
import { printable } from '../../output/text-table.ts'
import { forwardCalls, type ForwardReport } from './forward-calls.ts'
import { beginText, leftText, sentLine, sentText, skippedText } from './forward-text.ts'

export interface ForwardFlags extends ConnectionFlags {
  readonly forward: string
  readonly queue?: string
  readonly output: 'table' | 'json'
}

interface ForwardTools {
  readonly runner: CommandRunner
  readonly interrupted: () => Promise<void>
  readonly nowMs: () => number
}

/** `punctual listen --forward`: sends copies of the calls of a queue to an address of this machine, until interrupted. */
export function forward(flags: ForwardFlags, tools: ForwardTools): Promise<void> {
  const { runner, interrupted, nowMs } = tools
  return runner.run(flags, async (api) => {
    const url = addressOf(flags.forward)
    const { queue: given } = flags
    if (given === undefined)
      throw cliError('--forward needs a queue whose calls are copied (--queue)', MISUSED)
    const end = new AbortController()
    void interrupted().then(() => end.abort())
    try {
      const queue = await queueNameOf(api, given)
      await checkRights(api, queue, end.signal)
      const report = reportOf(flags, tools)
      const begun = (): void => {
        if (flags.output === 'table') runner.say(printable(beginText(queue, flags.forward)))
      }
      await forwardCalls({ api, queue, forward: url, report, nowMs }, begun, end.signal)
    } catch (fault) {
      if (!end.signal.aborted) throw fault
    } finally {
      end.abort()
    }
  })
}

function addressOf(text: string): URL {
  const url = URL.parse(text)
  if (url === null || !/^https?:$/.test(url.protocol)) {
    throw cliError(`--forward ${text} is not an http address, such as http://localhost:3000/hooks`, MISUSED)
  }
  if (`${url.username}${url.password}${url.search}${url.hash}` !== '') {
    throw cliError('--forward must have no user, password, query or fragment', MISUSED)
  }
  return url
}

/** Asks first: masked calls would be copied as such, and a list of another queue is empty. */
async function checkRights(api: Api, queue: string, signal: AbortSignal): Promise<void> {
  const { body: me } = await api.send('readMe', {}, { signal })
  if (!me.may.read || !me.may.payloads) {
    const what = me.may.read ? 'payloads' : 'read'
    throw cliError(`This needs the permission ${what}, which ${me.kind} ${me.subject} lacks`, NOT_PERMITTED)
  }
  if (me.queues !== null && !me.queues.includes(queue)) {
    throw cliError(`This token is limited to the queues ${me.queues.join(', ')}`, NOT_PERMITTED)
  }
}

function reportOf({ output }: ForwardFlags, { runner, nowMs }: ForwardTools): ForwardReport {
  const warn = (text: string): void => runner.warn(printable(`punctual: ${text}`))
  return {
    sent: (copy, url, end) => {
      const sent = { copy, url, end }
      const at = new Date(nowMs())
      runner.say(output === 'json' ? sentLine(sent, at) : printable(sentText(sent, at)))
    },
    left: (jobId, reason) => warn(leftText(jobId, reason)),
    skipped: (count, mayBeMore) => warn(skippedText(count, mayBeMore)),
    away: (message) => warn(`${message}; trying again\n`),
    back: () => warn('the API answers again\n'),
  }
}
