import { expect, test } from 'vitest'
import { NO_TERMS } from '../../../../src/domain/access/token-terms.ts'
import { StoreUnavailableError } from '../../../../src/domain/errors.ts'
import { tokensInEngine } from '../../../../src/roles/editors/engine-tokens.ts'

test('a token that is stored is answered also where it cannot be read again at once', async () => {
  const stored: string[] = []
  const keeper = tokensInEngine(
    {
      putToken: ({ name }) => {
        stored.push(name)
        return Promise.resolve({ status: 'applied' })
      },
      removeToken: () => Promise.resolve({ status: 'removed' }),
    },
    {
      tokensOf: () => [],
      isAccepted: () => true,
      refresh: () => Promise.reject(new StoreUnavailableError('away')),
    },
  )
  const token = { ...{ team: 'shop', name: 'ci', prefix: 'pk_', sha256Hex: 'ab' }, description: null }
  await keeper.create({ ...token, terms: NO_TERMS })
  expect(stored).toEqual(['ci'])
})
