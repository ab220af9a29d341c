import { type GroupRoles, parseGroupRoles } from '../../domain/access/group-roles.ts'
import { oneOf, optional, parsePassword, type Parser } from '../parsers.ts'
import { setting, type SettingValues } from '../setting.ts'

/** Foreign tokens that are shown to the API server: none, those that look like a JWT, or opaque ones too. */
const USER_TOKENS = ['off', 'jwt', 'any'] as const
const AUDIENCE = /^[\x21-\x7e]{1,255}$/

const parseAudience: Parser<string> = (text) =>
  AUDIENCE.test(text)
    ? { ok: true, value: text }
    : { ok: false, allowed: 'visible ASCII characters, such as https://punctual.example.com' }

const CLAIM = /^[\x21-\x7e]{1,255}$/
const PREFIX = /^[\x20-\x7e]{1,255}$/
const SCOPES = /^[\x21-\x7e]+(?: [\x21-\x7e]+)*$/
const LOOPBACK: ReadonlySet<string> = new Set(['localhost', '127.0.0.1', '[::1]'])

const matching =
  (pattern: RegExp, allowed: string): Parser<string> =>
  (text) =>
    pattern.test(text) ? { ok: true, value: text } : { ok: false, allowed }

/** Whoever reads a login on its way can use it. */
const parseSafeUrl: Parser<string> = (text) => {
  const url = URL.parse(text)
  const isSafe = url?.protocol === 'https:' || (url?.protocol === 'http:' && LOOPBACK.has(url.hostname))
  const isBare = url !== null && url.username === '' && url.search === '' && url.hash === ''
  const allowed = 'an https URL without user, query and fragment; http only at a loopback address'
  return isSafe && isBare ? { ok: true, value: text.replace(/\/$/, '') } : { ok: false, allowed }
}

const parseRoles: Parser<GroupRoles> = (text) => {
  const value = parseGroupRoles(text)
  const allowed =
    'JSON such as {"ops": "admin", "devs": {"shop": "editor"}}, with viewer, operator, editor or admin'
  return value === null ? { ok: false, allowed } : { ok: true, value }
}

const LOGGING_IN = ['standalone', 'api'] as const

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
  // Those that call must know it: jobs may not call ourselves.
  publicUrl: setting({
    roles: ['standalone', 'controller', 'api', 'executor'],
    variable: 'PUNCTUAL_PUBLIC_URL',
    placeholder: 'url',
    help: 'where browsers find the API, which jobs may not call; needed with an OIDC provider',
    initial: null,
    initialText: 'none',
    parse: optional(parseSafeUrl),
  }),
  oidcIssuer: setting({
    roles: LOGGING_IN,
    variable: 'PUNCTUAL_OIDC_ISSUER',
    placeholder: 'url',
    help: 'OIDC provider where people log in',
    initial: null,
    initialText: 'none',
    parse: optional(parseSafeUrl),
  }),
  oidcClientId: setting({
    roles: LOGGING_IN,
    variable: 'PUNCTUAL_OIDC_CLIENT_ID',
    placeholder: 'text',
    help: 'name of this installation at the provider',
    initial: null,
    initialText: 'none',
    parse: optional(matching(AUDIENCE, 'visible ASCII characters')),
  }),
  oidcClientSecret: setting({
    roles: LOGGING_IN,
    variable: 'PUNCTUAL_OIDC_CLIENT_SECRET',
    placeholder: 'text',
    help: 'its secret there; as a flag it shows in process lists',
    initial: null,
    initialText: 'none',
    isSecret: true,
    parse: optional(parsePassword),
  }),
  oidcScopes: setting({
    roles: LOGGING_IN,
    variable: 'PUNCTUAL_OIDC_SCOPES',
    placeholder: 'list',
    help: 'scopes to ask for, separated by spaces',
    initial: 'openid profile email',
    parse: matching(SCOPES, 'scopes separated by single spaces, such as openid profile groups'),
  }),
  oidcUserClaim: setting({
    roles: LOGGING_IN,
    variable: 'PUNCTUAL_OIDC_USER_CLAIM',
    placeholder: 'claim',
    help: 'claim with the name of the user',
    initial: 'sub',
    parse: matching(CLAIM, 'the name of a claim'),
  }),
  oidcGroupsClaim: setting({
    roles: LOGGING_IN,
    variable: 'PUNCTUAL_OIDC_GROUPS_CLAIM',
    placeholder: 'claim',
    help: 'claim with the groups of the user',
    initial: 'groups',
    parse: matching(CLAIM, 'the name of a claim'),
  }),
  oidcUserPrefix: setting({
    roles: LOGGING_IN,
    variable: 'PUNCTUAL_OIDC_USER_PREFIX',
    placeholder: 'text',
    help: "put before names of users, as the cluster's API server does",
    initial: '',
    initialText: 'none',
    isVerbatim: true,
    parse: matching(PREFIX, 'visible ASCII characters'),
  }),
  oidcGroupsPrefix: setting({
    roles: LOGGING_IN,
    variable: 'PUNCTUAL_OIDC_GROUPS_PREFIX',
    placeholder: 'text',
    help: "put before names of groups, as the cluster's API server does",
    initial: '',
    initialText: 'none',
    isVerbatim: true,
    parse: matching(PREFIX, 'visible ASCII characters'),
  }),
  oidcGroupRoles: setting({
    roles: LOGGING_IN,
    variable: 'PUNCTUAL_OIDC_GROUP_ROLES',
    placeholder: 'json',
    help: 'roles of groups in teams; without it, RBAC of the cluster decides',
    initial: null,
    initialText: 'none',
    parse: optional(parseRoles),
  }),
})

export type LoginSettings = SettingValues<typeof LOGIN_SETTINGS>

/** Finds settings that are missing or do not go together. @param resources where edits go; null in standalone */
export function loginMistakes(
  settings: Omit<LoginSettings, 'kubernetesUsers' | 'kubernetesAudience'> & {
    readonly kubernetesUsers?: LoginSettings['kubernetesUsers']
  },
  { resources, before }: { readonly resources: string | null; readonly before: readonly string[] },
): readonly string[] {
  const { kubernetesUsers = 'off', oidcIssuer } = settings
  const mistakes: string[] = []
  if (kubernetesUsers !== 'off' && resources !== 'kubernetes') {
    mistakes.push(
      'PUNCTUAL_KUBERNETES_USERS needs PUNCTUAL_RESOURCES=kubernetes: only then is there an API server to ask.',
    )
  }
  const isReported = before.some((one) => /^(?:PUNCTUAL_(?:OIDC_|PUBLIC_URL)|--oidc-|--public-url)/.test(one))
  if (oidcIssuer === null || isReported) return mistakes
  for (const key of ['publicUrl', 'oidcClientId', 'oidcClientSecret'] as const) {
    if (settings[key] === null) {
      mistakes.push(`${LOGIN_SETTINGS[key].variable} is not set: logins at PUNCTUAL_OIDC_ISSUER need it.`)
    }
  }
  if (settings.oidcGroupRoles === null && resources !== 'kubernetes') {
    mistakes.push(
      'PUNCTUAL_OIDC_GROUP_ROLES is not set: without a cluster, nothing else says what users may do.',
    )
  }
  return mistakes
}
