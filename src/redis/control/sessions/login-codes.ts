import { createSecretKey, hash, hkdfSync, randomBytes } from 'node:crypto'
import { LOGIN_CODE_MS } from '../../../domain/access/session.ts'
import { STORE_DEADLINE_MS } from '../../../domain/limits.ts'
import type { LoginCodes, LoginGrant } from '../../../ports/access/login-codes.ts'
import type { Engine } from '../../base/engine/engine.ts'
import { step } from '../../base/engine/step.ts'
import { SecretBox } from '../../base/secret-box.ts'
import { loginCodeKey } from '../../base/layout/keys.ts'

export const CREATE_CODE = step('create_code', import.meta.url, {
  keys: ['loginCode'],
  args: ['sealed', 'lifeMs'],
})
export const TAKE_CODE = step('take_code', import.meta.url, { keys: ['loginCode'], args: ['taker'] })

const CODE_BYTES = 32
const TAKER_BYTES = 12
const CODE = /^[\w-]{43}$/

/** Stored like sessions: by the hash of the code, and sealed under a key that is made of the code. */
export function createLoginCodes({ runner }: Pick<Engine, 'runner'>): LoginCodes {
  return {
    create: async (grant) => {
      const code = randomBytes(CODE_BYTES).toString('base64url')
      const { loginCode, box } = placeOf(code)
      const call = CREATE_CODE.with({
        loginCode,
        sealed: box.seal(JSON.stringify(grant), 'login code'),
        lifeMs: LOGIN_CODE_MS,
      })
      return { code, endMs: Number(await runner.run(call, STORE_DEADLINE_MS)) }
    },
    find: async (code) => {
      if (!CODE.test(code)) return null
      const { loginCode, box } = placeOf(code)
      const [sealed, taker] = await runner.read((redis) => redis.hmget(loginCode, 's', 't'))
      return typeof sealed === 'string' && taker === null ? open(box, sealed) : null
    },
    take: async (code) => {
      if (!CODE.test(code)) return false
      const { loginCode } = placeOf(code)
      const taker = randomBytes(TAKER_BYTES).toString('base64url')
      return (await runner.run(TAKE_CODE.with({ loginCode, taker }), STORE_DEADLINE_MS)) === 1
    },
  }
}

function placeOf(code: string): { loginCode: string; box: SecretBox } {
  const key = hkdfSync('sha256', code, '', 'punctual login code', CODE_BYTES)
  return {
    loginCode: loginCodeKey(hash('sha256', code, 'base64url')),
    box: new SecretBox(createSecretKey(Buffer.from(key))),
  }
}

/** null = damaged. */
function open(box: SecretBox, sealed: string): LoginGrant | null {
  try {
    return JSON.parse(box.open(sealed, 'login code')) as LoginGrant
  } catch {
    return null
  }
}
