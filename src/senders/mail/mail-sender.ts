import { DELIVERY_TIMEOUT_MS } from '../../domain/limits.ts'
import type { Member } from '../../domain/notifications/channel.ts'
import type { MailAddress, MailServer } from '../../domain/notifications/mail-server.ts'
import type { ChannelDelivery, DeliveryResult } from '../../ports/notifications.ts'
import type { Clock } from '../../ports/runtime.ts'
import { mailTo, type MailDraft } from '../messages/mail-message.ts'
import { messageOf } from '../messages/message.ts'
import { printable } from '../messages/printable.ts'
import { mailFaultOf, type MailFault } from './mail-fault.ts'
import { createMailPool } from './mail-pool.ts'

/** Mails of one message that are sent at once: fewer than there are connections, which all teams share. */
const MAILS_AT_ONCE = 2
const ANSWER_CHARACTERS_MAX = 200

export interface MailSender {
  send(delivery: ChannelDelivery, signal: AbortSignal): Promise<DeliveryResult>
  close(): void
}

/** One mail to each recipient. What one of them makes the server refuse does not keep the others from theirs. */
export function createMailSender(
  { server, from }: { readonly server: MailServer; readonly from: MailAddress },
  clock: Clock,
): MailSender {
  const pool = createMailPool(server)
  const password = server.login?.password ?? null

  async function sendAll(recipients: readonly Member[], draft: MailDraft, signal: AbortSignal) {
    const results: MailResults = { accepted: [], faults: [], lastAnswer: '' }
    const waiting = [...recipients]
    const sendOnes = async () => {
      for (let member = waiting.shift(); member !== undefined && !signal.aborted; member = waiting.shift()) {
        try {
          results.lastAnswer = await pool.send(mailTo(member, draft), from, signal)
          results.accepted.push(member.email)
        } catch (error: unknown) {
          if (signal.aborted) return
          const fault = mailFaultOf(error, password)
          results.faults.push(fault)
          if (fault.isOfServer) waiting.length = 0
        }
      }
    }
    await Promise.all(Array.from({ length: MAILS_AT_ONCE }, sendOnes))
    return results
  }

  return {
    send: async ({ channel, notification, recipients }, signal) => {
      if (recipients.length === 0) {
        return failure('The team has no members to send a mail to.', { isFinal: true })
      }
      const message = messageOf(notification, channel.name)
      const draft = { notification, channel: channel.name, message, from }
      const deadline = new AbortController()
      const cancel = clock.after(DELIVERY_TIMEOUT_MS, () => deadline.abort())
      try {
        const results = await sendAll(recipients, draft, AbortSignal.any([signal, deadline.signal]))
        if (results.accepted.length === recipients.length) {
          return { kind: 'sent', answer: printable(results.lastAnswer, ANSWER_CHARACTERS_MAX) }
        }
        if (signal.aborted) return { kind: 'aborted', accepted: results.accepted }
        return partOf(results, recipients.length)
      } finally {
        cancel()
      }
    },
    close: () => pool.close(),
  }
}

interface MailResults {
  readonly accepted: string[]
  readonly faults: MailFault[]
  lastAnswer: string
}

/** The result when some recipients got no mail. A further try is worth it unless the server refused every one of them. */
function partOf({ accepted, faults }: MailResults, recipients: number): DeliveryResult {
  const passing = faults.find((fault) => !fault.isFinal)
  const missing = recipients - accepted.length
  const shown = passing ?? faults[0]
  const said = shown?.said ?? 'The mail server was too slow.'
  return failure(recipients === 1 ? said : `${missing} of ${recipients} mails were not accepted: ${said}`, {
    isFinal: passing === undefined && faults.length === missing,
    accepted,
  })
}

function failure(
  answer: string,
  { isFinal, accepted = [] }: { readonly isFinal: boolean; readonly accepted?: readonly string[] },
): DeliveryResult {
  return {
    kind: 'failed',
    answer: printable(answer, ANSWER_CHARACTERS_MAX),
    isFinal,
    retryAfterMs: null,
    accepted,
  }
}
