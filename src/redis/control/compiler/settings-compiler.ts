import { hash } from 'node:crypto'
import { isDeepStrictEqual } from 'node:util'
import { NO_TERMS } from '../../../domain/access/token-terms.ts'
import { StartupError } from '../../../domain/errors.ts'
import { NO_QUOTAS, QUOTA_NAMES } from '../../../domain/quotas.ts'
import {
  NO_OWN_SECRETS,
  type OwnSecretsCompiler,
  type SecretOwner,
} from '../../../ports/access/own-secrets.ts'
import type { CompileEnd, SettingsCompiler, TeamPolicy } from '../../../ports/settings.ts'
import { CronWriter } from '../../crons/write/cron-writer.ts'
import type { Engine } from '../../base/engine/engine.ts'
import {
  NAMESPACES_KEY,
  OWN_ADDRESSES_KEY,
  TEAMS_KEY,
  TOKENS_KEY,
  WINDOWS_KEY,
} from '../../base/layout/keys.ts'
import { eraseTeam } from '../namespaces/erase-team.ts'
import { createNamespaceClaims, readNamespaces } from '../namespaces/namespace-claims.ts'
import { QueueWriter } from '../../jobs/queues/write/queue-writer.ts'
import { OwnSecretsWriter } from './own-secrets-compiler.ts'
import { putSetting } from './put-setting.ts'
import { sealAllAnew } from './reseal.ts'
import type { SecretBox } from '../../base/secret-box.ts'
import {
  decodeTeam,
  encodeTeam,
  OWN_TOKEN_NAME,
  hasText,
  isSealedAnew,
  teamsOf,
  tokensOf,
} from '../compiled/stored-settings.ts'
import { encodeWindow, windowField, windowFieldsOf, windowKeyOf } from '../compiled/stored-windows.ts'
import { createTokenWriter } from './token-writer.ts'

const NO_KEY = 'this process has no key, so it applies no teams'

/**
 * Throws StoreUnavailableError.
 * @param options.box null = in a process that applies no teams, and so needs no key
 * @param options.epoch of the leader; null in standalone, where there is no leader
 */
export function createSettingsCompiler({
  engine,
  box,
  epoch,
}: {
  engine: Engine
  box: SecretBox | null
  epoch: number | null
}): SettingsCompiler {
  async function putUnlessApplied(
    hash: string,
    field: string,
    setting: { isApplied(value: string): boolean; encode(): string },
  ): Promise<CompileEnd<{ readonly status: 'applied' }>> {
    const stored = await engine.runner.read((redis) => redis.hget(hash, field))
    if (stored !== null && setting.isApplied(stored)) return { status: 'applied' }
    const end = await putSetting(engine, { hash, epoch, field, text: setting.encode() })
    return { status: end === 'superseded' ? end : 'applied' }
  }

  const putText = (hash: string, field: string, text: string) =>
    putUnlessApplied(hash, field, { isApplied: (value) => hasText(value, text), encode: () => text })

  async function remove(hash: string, field: string): Promise<CompileEnd<{ readonly status: 'removed' }>> {
    const end = await putSetting(engine, { hash, epoch, field, text: '' })
    return { status: end === 'superseded' ? end : 'removed' }
  }

  const claims = createNamespaceClaims(engine)
  const ofQueues = queuesAndCrons(engine, { box, epoch })
  return {
    ...ofQueues,
    namespaces: () => readNamespaces(engine),
    claimNamespace: async (team, uid) => ({ uid: await claims.claim(team, uid) }),
    putNamespace: (team, uid) => putText(NAMESPACES_KEY, team, uid),
    removeNamespace: (team) => remove(NAMESPACES_KEY, team),
    eraseTeam: (team) => eraseTeam(engine, team, { ...ofQueues, epoch }),
    putTeam: async (team, policy) => {
      if (box === null) throw new Error(NO_KEY)
      return putUnlessApplied(TEAMS_KEY, team, {
        isApplied: (value) => isPolicy(box, { team, value }, policy),
        encode: () => encodeTeam(box, team, policy),
      })
    },
    removeTeam: (team) => remove(TEAMS_KEY, team),
    ...createTokenWriter(engine, epoch),
    putWindow: (window) => putText(WINDOWS_KEY, windowField(window), encodeWindow(window)),
    putOwnAddresses: (of, addresses) => putText(OWN_ADDRESSES_KEY, of, JSON.stringify(addresses)),
    removeWindow: (team, name) => remove(WINDOWS_KEY, windowField({ team, name })),
    sealAnew: async () => {
      if (box === null) throw new Error(NO_KEY)
      return sealAllAnew(engine, box, epoch)
    },
    applied: () => readApplied(engine),
  }
}

function queuesAndCrons(
  engine: Engine,
  { box, epoch }: { readonly box: SecretBox | null; readonly epoch: number | null },
): Pick<
  SettingsCompiler,
  'applyQueue' | 'removeQueue' | 'applyCron' | 'removeCron' | keyof OwnSecretsCompiler
> {
  const queues = new QueueWriter(engine, { epoch, isCompiled: true })
  const crons = new CronWriter(engine, epoch)
  const secrets = new OwnSecretsWriter(engine, box, epoch)

  /** Removes the secrets only once their owner is gone: a removal that was interrupted is made again. */
  async function withoutSecrets<End extends { readonly status: string }>(
    owner: SecretOwner,
    end: End,
  ): Promise<End | { readonly status: 'superseded' }> {
    if (end.status === 'superseded') return { status: 'superseded' }
    const { status } = await secrets.putOwnSecrets(owner, NO_OWN_SECRETS)
    return status === 'superseded' ? { status } : end
  }

  return {
    applyQueue: (team, name, settings) => queues.apply(team, name, settings),
    removeQueue: async (team, name) =>
      withoutSecrets({ team, kind: 'queue', name }, { status: await queues.remove(team, name) }),
    applyCron: (team, name, settings, formerId = null) => crons.apply(team, name, settings, formerId),
    removeCron: async (team, name) =>
      withoutSecrets({ team, kind: 'cron', name }, { status: await crons.remove(team, name) }),
    putOwnSecrets: (owner, own) => secrets.putOwnSecrets(owner, own),
    withdrawHeaderValues: (owner, mayKeep) => secrets.withdrawHeaderValues(owner, mayKeep),
  }
}

async function readApplied(engine: Engine): ReturnType<SettingsCompiler['applied']> {
  const [teams, tokens, windows] = await engine.runner.read((redis) =>
    Promise.all([redis.hgetall(TEAMS_KEY), redis.hgetall(TOKENS_KEY), redis.hkeys(WINDOWS_KEY)]),
  )
  return {
    teams: teamsOf(teams).map(([team]) => team),
    tokens: tokensOf(tokens)
      .filter(({ name }) => name !== OWN_TOKEN_NAME)
      .map(({ team, name }) => ({ team, name })),
    windows: windowFieldsOf(windows).map(windowKeyOf),
  }
}

/** Stores the token of PUNCTUAL_TOKEN, in place of the team's last one. Throws StartupError when it is another team's. */
export async function putOwnToken(compiler: SettingsCompiler, team: string, token: string): Promise<void> {
  const sha256Hex = hash('sha256', token, 'hex')
  const { status } = await compiler.putToken({ team, name: OWN_TOKEN_NAME, sha256Hex, terms: NO_TERMS })
  if (status === 'taken') {
    throw new StartupError(
      'The token in PUNCTUAL_TOKEN belongs to another team, or did until it was revoked: set it to another one.',
    )
  }
}

/**
 * A value that was sealed under another key, or that cannot be read, does not count as applied, so it is overwritten.
 */
function isPolicy(
  box: SecretBox,
  { team, value }: { readonly team: string; readonly value: string },
  policy: TeamPolicy,
): boolean {
  try {
    const applied = decodeTeam(box, team, value)
    const { egressAllow, signingSecrets, quotas = NO_QUOTAS, channels = [], members = [] } = policy
    const { headerSecrets = [], maskedHeaders = [] } = policy
    return (
      isSealedAnew(box, value) &&
      isDeepStrictEqual(applied.signingSecretIds, policy.signingSecretIds ?? []) &&
      isDeepStrictEqual(applied.egressAllow, egressAllow) &&
      isDeepStrictEqual(applied.signingSecrets, signingSecrets) &&
      QUOTA_NAMES.every((name) => applied.quotas[name] === quotas[name]) &&
      isDeepStrictEqual(applied.headerSecrets, headerSecrets) &&
      isDeepStrictEqual(applied.channels, channels) &&
      isDeepStrictEqual(applied.members, members) &&
      applied.appliedResources === policy.appliedResources &&
      isDeepStrictEqual(applied.maskedHeaders ?? [], maskedHeaders)
    )
  } catch {
    return false
  }
}
