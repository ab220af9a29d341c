/** A real SMTP server with STARTTLS and a login, which keeps the mails that it gets. */
import { once } from 'node:events'
import type { AddressInfo } from 'node:net'
import { simpleParser, type ParsedMail } from 'mailparser'
import { SMTPServer, type SMTPServerDataStream, type SMTPServerSession } from 'smtp-server'
import { until } from '../until.ts'
import type { Certificate } from './certificates.ts'

export interface MailTargetOptions {
  /** null: it offers no TLS. */
  readonly certificate: Certificate | null
  /** null: it wants no login, and offers none. */
  readonly login?: { readonly user: string; readonly password: string } | null
  /** TLS from the first byte. */
  readonly isTlsFromStart?: boolean
  /** 0: any free one. */
  readonly port?: number
}

export interface ReceivedMail {
  readonly from: string
  readonly to: readonly string[]
  /** As it was sent, headers included. */
  readonly source: string
  readonly parsed: ParsedMail
  readonly isSecure: boolean
  readonly user: string | null
}

export interface MailTarget {
  readonly port: number
  readonly mails: () => readonly ReceivedMail[]
  readonly connections: () => number
  /** Logins that were tried in the clear. */
  readonly plainLogins: () => number
  received(count: number, timeoutMs?: number): Promise<void>
  /** Answers to `RCPT TO` of an address, until it is called again; null = it is accepted. */
  refuse(address: string, answer: { readonly code: number; readonly text: string } | null): void
  /** Mails are taken and not answered until the returned function is called. */
  hold(): () => void
  close(): Promise<void>
}

export async function startMailTarget(options: MailTargetOptions): Promise<MailTarget> {
  const { certificate, login = null } = options
  const mails: ReceivedMail[] = []
  const refusals = new Map<string, { readonly code: number; readonly text: string }>()
  let connections = 0
  let plainLogins = 0
  let gate: Promise<void> = Promise.resolve()

  async function keep(stream: SMTPServerDataStream, { envelope, secure, user }: SMTPServerSession) {
    const chunks: Buffer[] = []
    for await (const chunk of stream) chunks.push(chunk as Buffer)
    await gate
    const source = Buffer.concat(chunks).toString('utf8')
    mails.push({
      from: envelope.mailFrom === false ? '' : envelope.mailFrom.address,
      to: envelope.rcptTo.map(({ address }) => address),
      source,
      parsed: await simpleParser(source),
      isSecure: secure,
      user: typeof user === 'string' ? user : null,
    })
  }

  const server = new SMTPServer({
    secure: options.isTlsFromStart === true,
    ...(certificate === null ? {} : { key: certificate.key, cert: certificate.cert }),
    hideSTARTTLS: certificate === null,
    disabledCommands: [...(certificate === null ? ['STARTTLS'] : []), ...(login === null ? ['AUTH'] : [])],
    authOptional: login === null,
    allowInsecureAuth: true,
    disableReverseLookup: true,
    closeTimeout: 100,
    logger: false,
    onConnect: (_session, done) => {
      connections += 1
      done()
    },
    onAuth: ({ username, password }, session, done) => {
      if (!session.secure) plainLogins += 1
      const isRight = username === login?.user && password === login?.password
      if (isRight) done(null, { user: username })
      else done(answerError({ code: 535, text: '5.7.8 Authentication credentials invalid' }))
    },
    onRcptTo: ({ address }, _session, done) => {
      const refusal = refusals.get(address)
      done(refusal === undefined ? null : answerError(refusal))
    },
    onData: (stream, session, reply) => {
      void keep(stream, session).then(
        () => reply(null, '2.0.0 Ok: queued'),
        (error: unknown) => reply(error as Error),
      )
    },
  })
  server.on('error', () => undefined)
  const listener = server.listen(options.port ?? 0, '127.0.0.1')
  await once(listener, 'listening')
  return {
    port: (listener.address() as AddressInfo).port,
    mails: () => mails,
    connections: () => connections,
    plainLogins: () => plainLogins,
    received: async (count, timeoutMs) => {
      await until(`${count} mails`, () => mails.length >= count, timeoutMs)
    },
    refuse: (address, answer) => {
      if (answer === null) refusals.delete(address)
      else refusals.set(address, answer)
    },
    hold: () => {
      const { promise, resolve } = Promise.withResolvers<void>()
      gate = promise
      return resolve
    },
    close: () => new Promise((resolve) => server.close(() => resolve())),
  }
}

function answerError({ code, text }: { readonly code: number; readonly text: string }): Error {
  return Object.assign(new Error(text), { responseCode: code })
}
