import { isIP } from 'node:net'
import { createTransport } from 'nodemailer'
import type { MailAddress, MailServer } from '../../domain/notifications/mail-server.ts'
import type { Mail } from '../messages/mail-message.ts'

/** Connections to the mail server, for all teams. */
const CONNECTIONS_MAX = 4
const MAILS_PER_CONNECTION_MAX = 100
/** A mail is tried once more over a new connection when the server has closed an idle one. */
const REQUEUES_MAX = 1
const IDLE_MS = 30_000
const CONNECT_MS = 5_000
const SILENCE_MS = 8_000
const CLOSE_MS = 1_000
const RESPONSE_BYTES_MAX = 64 * 1024

/** Sends mails over pooled connections, which it opens when needed. */
export interface MailPool {
  /** Resolves with the server's answer. Rejects with an error of nodemailer; `mailFaultOf` reads it. */
  send(mail: Mail, from: MailAddress, signal: AbortSignal): Promise<string>
  close(): void
}

export function createMailPool(server: MailServer): MailPool {
  const { host, port, login } = server
  const transport = createTransport({
    pool: true,
    host,
    port,
    secure: server.isTlsFromStart,
    // Without a login TLS is used where it is offered; a password never goes over a network in the clear.
    requireTLS: login !== null && !server.isTlsFromStart && !isLoopback(host),
    ...(login === null ? {} : { auth: { user: login.user, pass: login.password } }),
    maxConnections: CONNECTIONS_MAX,
    maxMessages: MAILS_PER_CONNECTION_MAX,
    maxRequeues: REQUEUES_MAX,
    idleTimeout: IDLE_MS,
    connectionTimeout: CONNECT_MS,
    greetingTimeout: CONNECT_MS,
    dnsTimeout: CONNECT_MS,
    socketTimeout: SILENCE_MS,
    socketCloseTimeout: CLOSE_MS,
    maxResponseSize: RESPONSE_BYTES_MAX,
    disableFileAccess: true,
    disableUrlAccess: true,
    logger: false,
  })
  return {
    send: async ({ to, threadRoot, ...mail }, from, signal) => {
      const { response } = await transport.sendMail({
        ...mail,
        headers: { ...mail.headers },
        from: addressOf(from),
        to: addressOf(to),
        envelope: { from: from.address, to: [to.address] },
        ...(threadRoot === null ? {} : { inReplyTo: threadRoot, references: [threadRoot] }),
        xMailer: false,
        signal,
      })
      return response
    },
    close: () => transport.close({ force: true }),
  }
}

function addressOf({ name, address }: MailAddress): { name: string; address: string } {
  return { name: name ?? '', address }
}

function isLoopback(host: string): boolean {
  return host === 'localhost' || host === '::1' || (isIP(host) === 4 && host.startsWith('127.'))
}
