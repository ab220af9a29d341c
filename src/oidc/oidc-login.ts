import {
  allowInsecureRequests,
  authorizationCodeGrant,
  buildAuthorizationUrl,
  calculatePKCECodeChallenge,
  ClientError,
  type Configuration,
  discovery,
  enableNonRepudiationChecks,
  type IDToken,
  randomNonce,
  randomPKCECodeVerifier,
  randomState,
  ResponseBodyError,
} from 'openid-client'
import type { NamedUser } from '../domain/access/session.ts'
import { createCountedLog } from '../domain/counted-log.ts'
import { reasonOf } from '../domain/errors.ts'
import { excerpt } from '../domain/excerpt.ts'
import type { LoginEnd, LoginProvider, PendingLogin } from '../ports/access/login-provider.ts'
import type { Clock, Logger } from '../ports/runtime.ts'

/** Bound of each request to the provider. */
const TIMEOUT_SECONDS = 10
/** How long what the provider says about itself counts where a login begins. */
const DISCOVERED_MS = 3_600_000
/**
 * Where a login ends. The keys of the provider are read with it, and one that signs with a new key must not be refused until
 * they are read again. Logins that come together share what was read.
 */
const KEYS_MS = 2_000
/** How long a provider that did not answer is not asked about itself again, however many want to log in. */
const AWAY_MS = 1_000
const GROUPS_MAX = 500
/**
 * Prefix of Kubernetes' own names: a group `system:masters` of a provider must not be the one that may do everything.
 */
const RESERVED = 'system:'
/** Whatever a reader of a log or of the audit log would not see, or would see elsewhere: a name with it may look like another. */
const UNSEEN = /[\p{Cc}\p{Cf}\p{Zl}\p{Zp}\p{Cs}]/u
const REASON_CHARACTERS_MAX = 200
const SERVER_FAULT = 500

export interface OidcClient {
  readonly issuer: string
  readonly clientId: string
  readonly clientSecret: string
  readonly scopes: string
  /** URL to which the provider sends the browser back. */
  readonly redirectUrl: string
  readonly userClaim: string
  readonly groupsClaim: string
  /** Prefixes of the names, as the API server is told to add them. */
  readonly userPrefix: string
  readonly groupsPrefix: string
}

interface Discovery {
  readonly config: Promise<Configuration>
  /** When it was asked for, or failed; monotonic. */
  readonly atMs: number
  readonly hasFailed: boolean
}

/** Logins by OpenID Connect: code flow with PKCE, state and nonce, and a signed ID token. Owns what was discovered. */
export function createOidcLogin(
  client: OidcClient,
  { clock, logger }: { clock: Clock; logger: Logger },
): LoginProvider {
  let known: Discovery | null = null

  /** Asked for once, however many wait; a failure is kept for a moment. @param ageMsMax of what is known already */
  function discovered(ageMsMax: number): Promise<Configuration> {
    const nowMs = clock.monotonicMs()
    if (known !== null && nowMs - known.atMs < (known.hasFailed ? AWAY_MS : ageMsMax)) return known.config
    const mine: Discovery = { config: discover(client), atMs: nowMs, hasFailed: false }
    known = mine
    mine.config.catch(() => Object.assign(mine, { atMs: clock.monotonicMs(), hasFailed: true }))
    return mine.config
  }

  const sayAway = createCountedLog(
    () => clock.monotonicMs(),
    (logins, error: unknown) =>
      logger.warn('The OIDC provider does not answer', {
        logins,
        reason: excerpt(reasonOf(error), REASON_CHARACTERS_MAX),
      }),
  )
  const unavailable = (error: unknown): null => {
    sayAway(error)
    return null
  }

  return {
    begin: async () => {
      const config = await discovered(DISCOVERED_MS).catch(unavailable)
      return config === null ? null : beginAt(config, client)
    },
    finish: async (search, pending) => {
      const config = await discovered(KEYS_MS).catch(unavailable)
      if (config === null) return { kind: 'unavailable' }
      try {
        return await finishAt(config, client, { search, pending })
      } catch (error) {
        if (isSilence(error)) return unavailable(error) ?? { kind: 'unavailable' }
        return { kind: 'refused', reason: excerpt(reasonOf(error), REASON_CHARACTERS_MAX) }
      }
    },
  }
}

async function discover({ issuer, clientId, clientSecret }: OidcClient): Promise<Configuration> {
  const url = new URL(issuer)
  // The settings allow plain HTTP for this machine alone.
  const execute = url.protocol === 'http:' ? [allowInsecureRequests] : []
  const config = await discovery(url, clientId, clientSecret, undefined, {
    execute,
    timeout: TIMEOUT_SECONDS,
  })
  // Without it the signature would be taken on trust, since the token comes by TLS.
  enableNonRepudiationChecks(config)
  return config
}

async function beginAt(
  config: Configuration,
  { redirectUrl, scopes }: OidcClient,
): Promise<{ url: string; pending: PendingLogin }> {
  const pending = { state: randomState(), nonce: randomNonce(), verifier: randomPKCECodeVerifier() }
  const url = buildAuthorizationUrl(config, {
    redirect_uri: redirectUrl,
    scope: scopes,
    state: pending.state,
    nonce: pending.nonce,
    code_challenge: await calculatePKCECodeChallenge(pending.verifier),
    code_challenge_method: 'S256',
  })
  return { url: url.href, pending }
}

async function finishAt(
  config: Configuration,
  client: OidcClient,
  { search, pending }: { readonly search: string; readonly pending: PendingLogin },
): Promise<LoginEnd> {
  const url = new URL(client.redirectUrl)
  url.search = search
  const tokens = await authorizationCodeGrant(config, url, {
    pkceCodeVerifier: pending.verifier,
    expectedState: pending.state,
    expectedNonce: pending.nonce,
    idTokenExpected: true,
  })
  const claims = tokens.claims()
  return claims === undefined ? { kind: 'refused', reason: 'there is no ID token' } : userOf(claims, client)
}

function userOf(claims: IDToken, { userClaim, groupsClaim, userPrefix, groupsPrefix }: OidcClient): LoginEnd {
  const name = claims[userClaim]
  if (typeof name !== 'string' || name === '' || UNSEEN.test(name))
    return { kind: 'refused', reason: `the claim ${userClaim} is no name` }
  // As the API server: anybody may claim an address that nobody has checked.
  const { email_verified: verified = true } = claims
  if (userClaim === 'email' && verified !== true) {
    return { kind: 'refused', reason: 'the e-mail address is not verified' }
  }
  const given = claims[groupsClaim] ?? []
  const groups = (Array.isArray(given) ? given : [given]).filter((one) => typeof one === 'string')
  if (groups.length > GROUPS_MAX) return { kind: 'refused', reason: 'there are too many groups' }
  const user: NamedUser = {
    username: userPrefix + name,
    groups: groups
      .filter((one) => !UNSEEN.test(one))
      .map((one) => groupsPrefix + one)
      .filter((one) => !one.startsWith(RESERVED)),
  }
  if (user.username.startsWith(RESERVED))
    return { kind: 'refused', reason: `names with ${RESERVED} are reserved` }
  return { kind: 'done', user }
}

/** A fault of the network, a timeout or a fault of the provider, not an answer about this login. */
function isSilence(error: unknown): boolean {
  if (error instanceof ResponseBodyError) return error.status >= SERVER_FAULT
  if (!(error instanceof ClientError)) return error instanceof TypeError
  const { code, cause } = error
  return code === 'OAUTH_TIMEOUT' || (cause instanceof Response && cause.status >= SERVER_FAULT)
}
