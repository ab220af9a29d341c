import {
  MAIL_SERVER_FORMS,
  type MailAddress,
  type MailServer,
  parseMailAddress,
  parseMailServer,
} from '../../domain/notifications/mail-server.ts'
import { optional, type Parser } from '../parsers.ts'
import { setting, type SettingValues } from '../setting.ts'

const TELLING = ['standalone', 'executor'] as const

const parseServer: Parser<MailServer> = (text) => {
  const value = parseMailServer(text)
  return value === null ? { ok: false, allowed: MAIL_SERVER_FORMS } : { ok: true, value }
}

const parseSender: Parser<MailAddress> = (text) => {
  const value = parseMailAddress(text)
  const allowed = 'an address such as punctual@example.com or Punctual <punctual@example.com>'
  return value === null ? { ok: false, allowed } : { ok: true, value }
}

/** The mail server of the installation, for the e-mail channels of all teams. */
export const MAIL_SETTINGS = Object.freeze({
  mailServer: setting({
    roles: TELLING,
    variable: 'PUNCTUAL_SMTP_URL',
    placeholder: 'url',
    help: 'mail server for notifications: smtp://user:password@host:587 or smtps://host; as a flag it shows in process lists',
    initial: null,
    initialText: 'none: no mail goes out',
    isSecret: true,
    parse: optional(parseServer),
  }),
  mailSender: setting({
    roles: TELLING,
    variable: 'PUNCTUAL_SMTP_FROM',
    placeholder: 'address',
    help: 'sender of those mails; needed with a mail server',
    initial: null,
    initialText: 'none',
    parse: optional(parseSender),
  }),
})

export type MailSettings = SettingValues<typeof MAIL_SETTINGS>

/**
 * Finds settings that are missing beside those given.
 * @param mistakes found before: what is wrong is not missing as well
 */
export function mailMistakes(
  { mailServer, mailSender }: MailSettings,
  mistakes: readonly string[],
): readonly string[] {
  const isReported = mistakes.some((one) => /^(?:PUNCTUAL_SMTP_|--smtp-)/.test(one))
  if (isReported || (mailServer === null) === (mailSender === null)) return []
  return [
    mailServer === null
      ? 'PUNCTUAL_SMTP_URL is not set, and PUNCTUAL_SMTP_FROM is of no use without.'
      : 'PUNCTUAL_SMTP_FROM is not set: the mail server of PUNCTUAL_SMTP_URL needs a sender, such as punctual@example.com.',
  ]
}
