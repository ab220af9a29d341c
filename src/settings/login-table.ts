import { oneOf, optional, type Parser } from './parsers.ts'
import { setting, type SettingValues } from './setting.ts'

/** Which tokens that are not ours are shown to the API server: none, those that look like a JWT, or opaque ones too. */
const USER_TOKENS = ['off', 'jwt', 'any'] as const
const AUDIENCE = /^[\x21-\x7e]{1,255}$/

const parseAudience: Parser<string> = (text) =>
  AUDIENCE.test(text)
    ? { ok: true, value: text }
    : { ok: false, allowed: 'visible ASCII characters, such as https://punctual.example.com' }

/** How people get in. */
export const LOGIN_SETTINGS = Object.freeze({
  kubernetesUsers: setting({
    roles: ['api'],
    variable: 'PUNCTUAL_KUBERNETES_USERS',
    placeholder: 'tokens',
    help: 'users of the cluster by their tokens: off, jwt (those that look like one) or any; needs --resources kubernetes',
    initial: 'off',
    parse: oneOf(USER_TOKENS),
  }),
  kubernetesAudience: setting({
    roles: ['api'],
    variable: 'PUNCTUAL_KUBERNETES_AUDIENCE',
    placeholder: 'text',
    help: "audience that tokens of users must be for; without it, the API server's own",
    initial: null,
    initialText: "the API server's",
    parse: optional(parseAudience),
  }),
})

export type LoginSettings = SettingValues<typeof LOGIN_SETTINGS>

/** What does not go together. */
export function loginMistakes({
  kubernetesUsers,
  resources,
}: Pick<LoginSettings, 'kubernetesUsers'> & { readonly resources: string }): readonly string[] {
  if (kubernetesUsers === 'off' || resources === 'kubernetes') return []
  return [
    'PUNCTUAL_KUBERNETES_USERS needs PUNCTUAL_RESOURCES=kubernetes: only then is there an API server to ask.',
  ]
}
