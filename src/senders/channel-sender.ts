import type { MailAddress, MailServer } from '../domain/notifications/mail-server.ts'
import type { HttpCaller } from '../ports/http-caller.ts'
import type { ChannelSender } from '../ports/notifications.ts'
import type { Clock } from '../ports/runtime.ts'
import type { createMailSender } from './mail/mail-sender.ts'
import { createWebhookSender } from './webhooks/webhook-sender.ts'

export interface ChannelSenderOptions {
  /** Stays the caller's: `close` does not close it. */
  readonly caller: HttpCaller
  /** The mail server of the installation and who its mails are from; null = none. */
  readonly mail: { readonly server: MailServer; readonly from: MailAddress } | null
  readonly clock: Clock
}

const NO_MAIL_SERVER = 'This installation has no mail server: set PUNCTUAL_SMTP_URL and PUNCTUAL_SMTP_FROM.'

/** Sends to every type of channel; docs/reference/notifications.md describes what arrives. */
export function createChannelSender({ caller, mail, clock }: ChannelSenderOptions): ChannelSender {
  const sendByWebhook = createWebhookSender(caller)
  const mails = mail === null ? null : openMailSender(mail, clock)
  return {
    send: async (delivery, signal) => {
      if (signal.aborted) return { kind: 'aborted', accepted: [] }
      const { type } = delivery.channel
      if (type !== 'email') return sendByWebhook(type, delivery, signal)
      if (mails !== null) return (await mails).send(delivery, signal)
      return { kind: 'failed', answer: NO_MAIL_SERVER, isFinal: true, retryAfterMs: null, accepted: [] }
    },
    close: async () => (await mails)?.close(),
  }
}

/** Most installations have no mail server, and the client of one takes a sixth of the start of an executor. */
async function openMailSender(...given: Parameters<typeof createMailSender>) {
  const { createMailSender: create } = await import('./mail/mail-sender.ts')
  return create(...given)
}
