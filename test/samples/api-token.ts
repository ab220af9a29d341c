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
  full: [{ sha256: HASH, description: 'Continuous integration' }],
  valid: [
    { title: 'nothing but the hash', spec: { sha256: HASH } },
    { title: 'another hash', former: { sha256: HASH }, spec: { sha256: '0'.repeat(64) } },
    { title: 'an empty description', spec: { sha256: HASH, description: '' } },
  ],
  invalid: [
    refused('the token itself', 'punctual-token-of-somebody'),
    refused('63 digits', HASH.slice(1)),
    refused('capitals', HASH.toUpperCase()),
    refused('a letter beyond f', `g${HASH.slice(1)}`),
    refused('nothing', ''),
    { title: 'the token beside it', spec: { sha256: HASH, token: 'x' }, field: 'spec.token' },
  ],
}
