import { SESSIONS_PER_SUBJECT_MAX } from '../../../../src/domain/access/session.ts'
import { createLoginCodes } from '../../../../src/redis/control/sessions/login-codes.ts'
import { createSessionStore } from '../../../../src/redis/control/sessions/session-store.ts'
import type { StepName } from '../../../../src/redis/steps.ts'
import type { Scene } from '../../cluster/tear-scenes.ts'

const SUBJECT = { kind: 'token', team: 'default', name: 'ci' } as const
const ORIGIN = { device: 'Firefox on Windows', address: '203.0.113.7' } as const
const LOGIN = {
  subject: SUBJECT,
  credential: { kind: 'token', token: 'a-token-0123456789' },
  openedFor: 'default',
} as const

export const SESSION_SCENES: ReadonlyArray<readonly [StepName, string, Scene]> = [
  [
    'create_code',
    'a code',
    async ({ world }) =>
      () =>
        createLoginCodes(world.engine).create({ token: LOGIN.credential.token, team: 'default' }),
  ],
  [
    'take_code',
    'a code that waits',
    async ({ world }) => {
      const codes = createLoginCodes(world.engine)
      const { code } = await codes.create({ token: LOGIN.credential.token, team: 'default' })
      return () => codes.take(code)
    },
  ],
  [
    'open_session',
    'one more than there may be',
    async ({ world }) => {
      const store = createSessionStore(world.engine)
      for (let i = 0; i < SESSIONS_PER_SUBJECT_MAX; i += 1) await store.open(LOGIN, ORIGIN)
      return () => store.open(LOGIN, ORIGIN)
    },
  ],
  [
    'use_session',
    'a use that is noted',
    async ({ world }) => {
      const store = createSessionStore(world.engine)
      const { id } = await store.open(LOGIN, ORIGIN)
      world.clock.advance(60_000)
      return () => store.use(id)
    },
  ],
  [
    'list_sessions',
    'two of one subject',
    async ({ world }) => {
      const store = createSessionStore(world.engine)
      await store.open(LOGIN, ORIGIN)
      await store.open(LOGIN, ORIGIN)
      return () => store.list(SUBJECT)
    },
  ],
  [
    'end_session',
    'one of two',
    async ({ world }) => {
      const store = createSessionStore(world.engine)
      const { id } = await store.open(LOGIN, ORIGIN)
      await store.open(LOGIN, ORIGIN)
      return () => store.end(id)
    },
  ],
]
