/** An OIDC provider on loopback that lets everybody in: code flow with PKCE, and ID tokens by RS256. */
import { createHash, createSign, generateKeyPairSync, randomUUID } from 'node:crypto'
import { once } from 'node:events'
import { createServer, type IncomingMessage } from 'node:http'
import type { AddressInfo } from 'node:net'

export interface OidcProvider {
  readonly issuer: string
  readonly clientId: string
  readonly clientSecret: string
  /** Claims that replace those of the next ID tokens. */
  claims: Readonly<Record<string, unknown>>
  /** Signs with a key that it does not publish. */
  isForging: boolean
  /** Signs with another key, which it publishes in place of the one before. */
  changeKeys(): void
  /** Answers nothing but this status. */
  failsWith: number | null
  /** That came so far. */
  readonly requests: number
  /** What a browser does at the authorization URL: the URL that it is sent back to. */
  authorize(url: string): string
  close(): Promise<void>
}

interface Grant {
  readonly nonce: string
  readonly challenge: string
  readonly redirectUri: string
}

const NEW_KEY = () => generateKeyPairSync('rsa', { modulusLength: 2048 })
const KEY = NEW_KEY()
const OTHER_KEY = NEW_KEY()
const LIFE_SECONDS = 300

export async function startOidcProvider(): Promise<OidcProvider> {
  const grants = new Map<string, Grant>()
  const [clientId, clientSecret] = ['punctual', `secret-${randomUUID()}`]

  let requests = 0
  let signer = { kid: 'one', key: KEY }
  const server = createServer((request, response) => {
    requests += 1
    void answer(request).then(({ status, body }) => {
      response.writeHead(status, { 'content-type': 'application/json' }).end(JSON.stringify(body))
    })
  })
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  const issuer = `http://127.0.0.1:${(server.address() as AddressInfo).port}`

  async function answer(request: IncomingMessage): Promise<{ status: number; body: unknown }> {
    if (provider.failsWith !== null) return { status: provider.failsWith, body: { error: 'broken' } }
    if (request.url === '/.well-known/openid-configuration') return { status: 200, body: discovered() }
    if (request.url === '/jwks') {
      const jwk = {
        ...signer.key.publicKey.export({ format: 'jwk' }),
        kid: signer.kid,
        alg: 'RS256',
        use: 'sig',
      }
      return { status: 200, body: { keys: [jwk] } }
    }
    return request.url === '/token' ? exchange(request) : { status: 404, body: {} }
  }

  function discovered(): object {
    return {
      issuer,
      authorization_endpoint: `${issuer}/authorize`,
      token_endpoint: `${issuer}/token`,
      jwks_uri: `${issuer}/jwks`,
      response_types_supported: ['code'],
      subject_types_supported: ['public'],
      id_token_signing_alg_values_supported: ['RS256'],
      code_challenge_methods_supported: ['S256'],
    }
  }

  async function exchange(request: IncomingMessage): Promise<{ status: number; body: unknown }> {
    const chunks: Buffer[] = []
    for await (const chunk of request) chunks.push(chunk as Buffer)
    const form = new URLSearchParams(Buffer.concat(chunks).toString())
    const grant = grants.get(form.get('code') ?? '')
    // A code counts once.
    grants.delete(form.get('code') ?? '')
    const verifier = createHash('sha256')
      .update(form.get('code_verifier') ?? '')
      .digest('base64url')
    const isRight =
      form.get('client_id') === clientId &&
      form.get('client_secret') === clientSecret &&
      grant?.challenge === verifier &&
      grant.redirectUri === form.get('redirect_uri')
    if (grant === undefined || !isRight) return { status: 400, body: { error: 'invalid_grant' } }
    const body = { access_token: randomUUID(), token_type: 'Bearer', id_token: idToken(grant) }
    return { status: 200, body }
  }

  function idToken({ nonce }: Grant): string {
    const now = Math.floor(Date.now() / 1_000)
    const usual = { iss: issuer, aud: clientId, sub: 'ann', iat: now, exp: now + LIFE_SECONDS, nonce }
    const part = (value: object) => Buffer.from(JSON.stringify(value)).toString('base64url')
    const signed = `${part({ alg: 'RS256', kid: signer.kid })}.${part({ ...usual, ...provider.claims })}`
    const key = provider.isForging ? OTHER_KEY : signer.key
    return `${signed}.${createSign('RSA-SHA256').update(signed).sign(key.privateKey, 'base64url')}`
  }

  const provider: OidcProvider = {
    issuer,
    clientId,
    clientSecret,
    claims: {},
    isForging: false,
    changeKeys: () => {
      signer = { kid: 'two', key: NEW_KEY() }
    },
    failsWith: null,
    get requests() {
      return requests
    },
    authorize: (url) => {
      const asked = new URL(url).searchParams
      const code = randomUUID()
      const redirectUri = asked.get('redirect_uri') ?? ''
      const [nonce, challenge] = [asked.get('nonce') ?? '', asked.get('code_challenge') ?? '']
      grants.set(code, { nonce, challenge, redirectUri })
      const back = new URL(redirectUri)
      back.search = new URLSearchParams({ code, state: asked.get('state') ?? '' }).toString()
      return back.href
    },
    close: async () => {
      server.close()
      server.closeAllConnections()
      await once(server, 'close')
    },
  }
  return provider
}
