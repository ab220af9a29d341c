import type { CronSettings } from '../domain/crons/cron.ts'
import { EditRefusedError, isFault } from '../domain/errors.ts'
import { SECRET_BYTES_PER_OWNER_MAX } from '../domain/limits.ts'
import { tooManyBytesText } from '../domain/secrets/secret-bytes.ts'
import { hostEntryOf, SECRET_HOSTS_ANNOTATION } from '../domain/secrets/secret-hosts.ts'
import { secretTypeOf } from '../domain/secrets/secret-use.ts'
import { type KubeObject, type NewObject, type ObjectRef, refOf } from '../ports/resource-store.ts'
import { maskedHeadersOf, type TeamSettingsSource } from '../ports/settings.ts'
import {
  madeSecretsOf,
  type SplitHeaders,
  splitHeaders,
  withoutSecretValues,
} from '../resources/cron-secret.ts'
import { API_ORIGIN, ORIGIN_LABEL } from '../resources/queue-owner.ts'

/** Secrets of crons in a cluster. The API may make and delete them, and read none. Throws ResourceApiError. */
export interface CronSecretStore {
  create(secret: NewObject): Promise<unknown>
  /** Succeeds when there is none. */
  removeNamed(namespace: string, name: string): Promise<void>
  /** Takes the mark of an unfinished cron away, with a change of its spec. */
  finish(cron: ObjectRef, spec: Readonly<Record<string, unknown>>): Promise<KubeObject>
}

export interface CronSecretsOptions {
  /** null = the values stay in the resource, as in a folder, whose files nobody else may read. */
  readonly store: CronSecretStore | null
  readonly teamSettings: TeamSettingsSource
  /** Makes 8 random hex digits. */
  readonly newSuffix: () => string
}

const NO_RIGHT =
  'This API may not make Secrets, and keeps secret headers of crons nowhere else: set api.cronSecrets.enabled in the chart, or name a Secret in the HttpCron by kubectl.'

type Headers = CronSettings['headers']

/** Keeps the secret headers of crons that the API writes in Secrets of their own, which go when their cron goes. */
export class CronSecrets {
  readonly #options: CronSecretsOptions

  constructor(options: CronSecretsOptions) {
    this.#options = options
  }

  /** Throws EditRefusedError when the values have too many bytes. */
  split(team: string, cron: string, headers: Headers): SplitHeaders {
    const { store, newSuffix } = this.#options
    if (store === null) return { headers, secret: null }
    const split = splitHeaders(cron, headers, { masked: this.#maskedOf(team), suffix: newSuffix() })
    const bytes = Object.values(split.secret?.values ?? {}).reduce((sum, text) => sum + text.length, 0)
    if (bytes > SECRET_BYTES_PER_OWNER_MAX) throw new EditRefusedError(tooManyBytesText('owner'))
    return split
  }

  /** Makes the Secret. Throws EditRefusedError when the API has no right to. @param url of the cron */
  async make(cron: KubeObject, secret: NonNullable<SplitHeaders['secret']>, url: string): Promise<void> {
    try {
      await this.#options.store?.create(newCronSecret(cron, secret, url))
    } catch (error) {
      if (!isFault(error, 'forbidden')) throw error
      throw new EditRefusedError(NO_RIGHT, { cause: error })
    }
  }

  /** Makes the Secret of a new cron, and lets it be applied. @param spec what else changes, if anything */
  async finish(
    cron: KubeObject,
    secret: NonNullable<SplitHeaders['secret']>,
    { url, spec }: { readonly url: string; readonly spec: Readonly<Record<string, unknown>> },
  ): Promise<void> {
    await this.make(cron, secret, url)
    await this.#options.store?.finish(refOf(cron), spec)
  }

  /** Deletes the Secrets that a cron named and names no more. One that cannot be deleted goes with the cron. */
  async removeUnnamed(
    { team, cron }: { readonly team: string; readonly cron: string },
    before: Headers,
    after: Headers,
  ): Promise<void> {
    const named = madeSecretsOf(cron, after)
    for (const name of madeSecretsOf(cron, before)) {
      if (!named.has(name)) await this.remove(team, name)
    }
  }

  async remove(team: string, name: string): Promise<void> {
    await this.#options.store?.removeNamed(team, name).catch(() => undefined)
  }

  /** Headers to be compared: values of secret ones count for the same, as the API cannot read them again. */
  withoutValues(team: string, headers: Headers): Headers {
    return this.#options.store === null ? headers : withoutSecretValues(headers, this.#maskedOf(team))
  }

  #maskedOf(team: string): ReadonlySet<string> {
    return maskedHeadersOf(this.#options.teamSettings.of(team))
  }
}

/** The Secret of a cron, which goes when the cron goes. Its values may go where the cron calls. @param url of the cron */
function newCronSecret(
  cron: KubeObject,
  { name, values }: NonNullable<SplitHeaders['secret']>,
  url: string,
): NewObject {
  const { namespace, name: owner, uid } = cron.metadata
  return {
    metadata: {
      name,
      namespace,
      labels: { [ORIGIN_LABEL]: API_ORIGIN },
      annotations: { [SECRET_HOSTS_ANNOTATION]: hostEntryOf(new URL(url)) },
      ownerReferences: [{ apiVersion: cron.apiVersion, kind: cron.kind, name: owner, uid }],
    },
    type: secretTypeOf('header'),
    stringData: values,
  }
}
