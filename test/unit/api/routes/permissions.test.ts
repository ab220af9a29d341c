import { afterAll, beforeAll, expect, test } from 'vitest'
import { PERMISSIONS, type Permission } from '../../../../src/domain/access/permission.ts'
import { operations } from '../../../support/rules/contract-document.ts'
import { aPrincipal } from '../../../support/principals.ts'
import { call, startApi, type RunningApi } from '../api-fixture.ts'

let api: RunningApi
/** The token is the list of its permissions. */
const principalOf = (token: string) =>
  aPrincipal('default', { permissions: new Set(token.split(',') as Permission[]) })

beforeAll(async () => {
  api = await startApi({ tokens: { principalOf } })
})
afterAll(() => api.close())

const ALL: readonly (string | null)[] = [...PERMISSIONS, null]

test.each(operations().map((one) => [one.operation.operationId, one] as const))(
  '%s needs the permission that the contract names, and no other',
  async (_id, { method, path, operation }) => {
    // One without it must need none: logging in, for example.
    const needed = operation['x-permission'] ?? null
    expect(ALL, 'x-permission: one of the permissions, or null').toContain(needed)
    const statusWith = async (permissions: readonly string[]) => {
      const headers = { authorization: `Bearer ${permissions.join(',')}` }
      return (await call(api.port, path.replaceAll(/\{\w+\}/g, '7'), { method, headers })).status
    }
    const others = PERMISSIONS.filter((permission) => permission !== needed)
    if (needed !== null) expect(await statusWith(others)).toBe(403)
    expect(await statusWith([needed ?? 'none'])).not.toBe(403)
  },
)
