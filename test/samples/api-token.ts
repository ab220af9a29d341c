import type { KindSamples } from './sample.ts'

const HASH = '0123456789abcdef'.repeat(4)
const NOT_A_HASH = 'must be the SHA-256 of the token in 64 hex digits of lower case, never the token itself'

const refused = (title: string, sha256: string) => ({
  title,
  spec: { sha256 },
  field: 'spec.sha256',
  rule: NOT_A_HASH,
})

export const API_TOKEN: KindSamples = {
  kind: 'ApiToken',
  crd: 'apitokens.punctual.dev.yaml',
  name: 'ci',
  full: [
    {
      sha256: HASH,
      description: 'Continuous integration',
      prefix: 'pun_4fJk',
      scopes: ['Push', 'Read'],
      queues: ['Mails: out'],
      expiresAt: '2027-01-31T00:00:00Z',
      rateLimit: {
        requestsPerSecond: 50,
        burst: 200,
        sharedWith: [{ name: 'maker', requestsPerSecond: 100, burst: 200 }],
      },
    },
  ],
  valid: [
    { title: 'nothing but the hash', spec: { sha256: HASH } },
    { title: 'another hash', former: { sha256: HASH }, spec: { sha256: '0'.repeat(64) } },
    { title: 'an empty description', spec: { sha256: HASH, description: '' } },
    { title: 'no burst', spec: { sha256: HASH, rateLimit: { requestsPerSecond: 1 } } },
  ],
  invalid: [
    refused('the token itself', 'punctual-token-of-somebody'),
    refused('63 digits', HASH.slice(1)),
    refused('capitals', HASH.toUpperCase()),
    refused('a letter beyond f', `g${HASH.slice(1)}`),
    refused('nothing', ''),
    { title: 'a scope in small letters', spec: { sha256: HASH, scopes: ['push'] }, field: 'spec.scopes[0]' },
    { title: 'no scope at all', spec: { sha256: HASH, scopes: [] }, field: 'spec.scopes' },
    { title: 'no queue at all', spec: { sha256: HASH, queues: [] }, field: 'spec.queues' },
    {
      title: 'a time before all computers',
      spec: { sha256: HASH, expiresAt: '1969-12-31T23:59:59Z' },
      field: 'spec.expiresAt',
      rule: 'must be later than 1970',
    },
    { title: 'a day', spec: { sha256: HASH, expiresAt: '2027-01-31' }, field: 'spec.expiresAt' },
    { title: 'no rate', spec: { sha256: HASH, rateLimit: {} }, field: 'spec.rateLimit.requestsPerSecond' },
    { title: 'the token beside it', spec: { sha256: HASH, token: 'x' }, field: 'spec.token' },
  ],
}
