import { createSecretKey } from 'node:crypto'
import { NO_OWN_SECRETS } from '../../../../src/ports/access/own-secrets.ts'
import { takeRate } from '../../../../src/redis/control/access/take-rate.ts'
import { createSettingsCompiler } from '../../../../src/redis/control/compiler/settings-compiler.ts'
import { SecretBox } from '../../../../src/redis/base/secret-box.ts'
import type { StepName } from '../../../../src/redis/steps.ts'
import { anApiToken } from '../../../support/principals.ts'
import type { Scene } from '../../cluster/tear-scenes.ts'

/** The steps of tokens. */
export const ACCESS_SCENES: ReadonlyArray<readonly [StepName, string, Scene]> = [
  [
    'take_rate',
    'a token that has used some of its rate',
    async ({ world }) => {
      const wanted = { requestsPerSecond: 1, burst: 10, wanted: 2 }
      const token = { team: 'default', name: 'ci' }
      await takeRate(world.engine, token, wanted)
      return () => takeRate(world.engine, token, wanted)
    },
  ],
  ...(['put', 'replaced', 'removed'] as const).map((what): [StepName, string, Scene] => [
    'put_token',
    `a token that is ${what}`,
    async ({ world }) => {
      const compiler = createSettingsCompiler({ engine: world.engine, box: null, epoch: null })
      const token = anApiToken('ci', { sha256Hex: 'ab'.repeat(32) })
      if (what === 'put') return () => compiler.putToken(token)
      await compiler.putToken(token)
      if (what === 'removed') return () => compiler.removeToken(token.team, token.name)
      return () => compiler.putToken({ ...token, sha256Hex: 'cd'.repeat(32) })
    },
  ]),
  [
    'put_secrets',
    'the secrets of a cron',
    async ({ world }) => {
      const box = new SecretBox(createSecretKey(Buffer.alloc(32, 7)))
      const compiler = createSettingsCompiler({ engine: world.engine, box, epoch: null })
      const owner = { team: 'default', kind: 'cron', name: 'nightly' } as const
      const secrets = { ...NO_OWN_SECRETS, headerValues: { 'x-key': 'value' } }
      return () => compiler.putOwnSecrets(owner, secrets)
    },
  ],
]
