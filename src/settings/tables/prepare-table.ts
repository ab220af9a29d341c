import { refused, type Parser } from '../parsers.ts'
import { setting } from '../setting.ts'

/** One value in a Secret of the own namespace. */
export interface SecretEntry {
  readonly name: string
  readonly key: string
}

const SECRET_ENTRY = /^([a-z0-9](?:[-a-z0-9.]{0,251}[a-z0-9])?)\/([-._a-zA-Z0-9]{1,253})$/

const parseSecretEntry: Parser<SecretEntry | null> = (text) => {
  const [, name, key] = SECRET_ENTRY.exec(text) ?? []
  return name === undefined || key === undefined
    ? refused('the name of a Secret and a key in it, such as punctual-token/token')
    : { ok: true, value: Object.freeze({ name, key }) }
}

const ofPrepare = {
  roles: ['prepare'],
  placeholder: 'secret/key',
  initial: null,
  initialText: 'none',
} as const

/** The Secrets that `prepare` makes where there are none. */
export const PREPARE_SETTINGS = Object.freeze({
  makeToken: setting({
    ...ofPrepare,
    variable: 'PUNCTUAL_MAKE_TOKEN',
    help: 'Secret to make for the first token',
    parse: parseSecretEntry,
  }),
  makeSecretsKey: setting({
    ...ofPrepare,
    variable: 'PUNCTUAL_MAKE_SECRETS_KEY',
    help: 'Secret to make for the key of secrets in Redis',
    parse: parseSecretEntry,
  }),
  makeRedisApiPassword: setting({
    ...ofPrepare,
    variable: 'PUNCTUAL_MAKE_REDIS_API_PASSWORD',
    help: "Secret to make for the password of the API's user in the bundled Redis",
    parse: parseSecretEntry,
  }),
  makeRedisExecutorPassword: setting({
    ...ofPrepare,
    variable: 'PUNCTUAL_MAKE_REDIS_EXECUTOR_PASSWORD',
    help: "Secret to make for the password of the executors' user in the bundled Redis",
    parse: parseSecretEntry,
  }),
  makeRedisPassword: setting({
    ...ofPrepare,
    variable: 'PUNCTUAL_MAKE_REDIS_PASSWORD',
    help: 'Secret to make for the password of the bundled Redis',
    parse: parseSecretEntry,
  }),
})
