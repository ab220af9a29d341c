import { optional, parsePath } from '../parsers.ts'
import { setting } from '../setting.ts'

/** HTTPS at the API itself; without a certificate it speaks HTTP. */
export const TLS_SETTINGS = Object.freeze({
  tlsCert: setting({
    roles: ['api'],
    variable: 'PUNCTUAL_TLS_CERT',
    placeholder: 'file',
    help: 'PEM file of the certificate of the API, with its chain; the API then speaks HTTPS alone',
    initial: null,
    initialText: 'none',
    parse: optional(parsePath),
  }),
  tlsKey: setting({
    roles: ['api'],
    variable: 'PUNCTUAL_TLS_KEY',
    placeholder: 'file',
    help: 'PEM file of its private key',
    initial: null,
    initialText: 'none',
    parse: optional(parsePath),
  }),
})

/** @param values of the table */
export function tlsMistakes({
  tlsCert,
  tlsKey,
}: {
  readonly tlsCert: string | null
  readonly tlsKey: string | null
}): string[] {
  if ((tlsCert === null) === (tlsKey === null)) return []
  const [given, missing] =
    tlsKey === null ? ['PUNCTUAL_TLS_CERT', 'PUNCTUAL_TLS_KEY'] : ['PUNCTUAL_TLS_KEY', 'PUNCTUAL_TLS_CERT']
  return [`${missing} is not set, and ${given} is of no use without.`]
}
