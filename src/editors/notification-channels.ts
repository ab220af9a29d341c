import { EditRefusedError, ResourceApiError } from '../domain/errors.ts'
import type { SecretKeyRef } from '../domain/access/signing-secret.ts'
import { CHANNEL_URL_KEY, CHANNELS_MAX } from '../domain/notifications/channel.ts'
import type { ChannelStore, GivenChannel, KeptChannel } from '../ports/notifications.ts'
import { type KubeObject, refOf } from '../ports/resource-store.ts'
import { channelPlansOf, channelSpecOf } from '../resources/team-channels.ts'
import { notWatched, pollUntil, withinTimeout } from './resource-edit.ts'
import {
  changeSettings,
  newSecret,
  readSettings,
  removeUnnamed,
  type SpecChange,
  type TeamSettingsOptions,
  withRight,
} from './team-settings-edit.ts'

export interface NotificationChannelsOptions extends TeamSettingsOptions {
  /** Tells whether this process knows that the channel can be used by now. */
  readonly isUsable: (team: string, name: string) => boolean
}

/** A controller applies it, and then every process reads it again within 2 s. */
const IN_FORCE_WAIT_MS = 8_000

/** Keeps channels in the TeamSettings of the namespace, and their URLs in Secrets that it names. */
export function createNotificationChannels(options: NotificationChannelsOptions): ChannelStore {
  const { isUsable, isWatched, clock } = options
  const requireWatched = (team: string): void => {
    if (!isWatched(team)) throw notWatched('Channels', team)
  }
  return {
    list: async (team) => {
      if (!isWatched(team)) return []
      return channelPlansOf((await readSettings(options, team))?.spec ?? {})
    },
    create: async (team, given) => {
      requireWatched(team)
      return createChannel(options, team, given)
    },
    edit: async (team, name, alertTypes) => {
      requireWatched(team)
      let edited: KeptChannel | undefined
      await withRight(() =>
        changeSettings(options, team, (spec) => {
          const channels = channelPlansOf(spec)
          const found = channels.find((one) => one.name === name)
          edited = found === undefined ? undefined : { ...found, alertTypes }
          if (edited === undefined) return null
          const after = edited
          return withChannels(channels.map((one) => (one.name === name ? after : one)))
        }),
      )
      return edited ?? 'not_found'
    },
    remove: async (team, name) => {
      requireWatched(team)
      let removed: KeptChannel | undefined
      const written = await withRight(() =>
        changeSettings(options, team, (spec) => {
          const channels = channelPlansOf(spec)
          removed = channels.find((one) => one.name === name)
          return removed === undefined ? null : withChannels(channels.filter((one) => one.name !== name))
        }),
      )
      if (removed === undefined || written === null) return 'not_found'
      if (removed.secretRef !== null) await removeUnnamed(options, written, removed.secretRef.name)
      return 'removed'
    },
    whenInForce: (team, name) =>
      pollUntil(clock, () => Promise.resolve(isUsable(team, name)), IN_FORCE_WAIT_MS),
  }
}

async function createChannel(
  options: NotificationChannelsOptions,
  team: string,
  given: GivenChannel,
): Promise<KeptChannel> {
  // Before a Secret is made for it.
  refuseNew(channelPlansOf((await readSettings(options, team))?.spec ?? {}), given.name)
  const secret = await makeSecret(options, team, given)
  const made = keptOf(given)
  try {
    await withRight(() =>
      changeSettings(options, team, (spec) => {
        const channels = channelPlansOf(spec)
        refuseNew(channels, given.name)
        return withChannels([...channels, made])
      }),
    )
  } catch (error) {
    // Without an answer the settings may name the Secret by now, so it must stay.
    if (secret !== null && !(error instanceof ResourceApiError)) {
      await options.secrets.remove(refOf(secret)).catch(() => undefined)
    }
    throw error
  }
  return made
}

/** null = the channel has no URL. */
async function makeSecret(
  { secrets, clock }: NotificationChannelsOptions,
  team: string,
  given: GivenChannel,
): Promise<KubeObject | null> {
  const { secretRef } = keptOf(given)
  if (secretRef === null || given.url === null) return null
  const object = newSecret(team, secretRef, { text: given.url, use: null })
  return withRight(() => withinTimeout(clock, () => secrets.create(object)))
}

function keptOf({ name, type, alertTypes, url, secretName }: GivenChannel): KeptChannel {
  const secretRef: SecretKeyRef | null = url === null ? null : { name: secretName, key: CHANNEL_URL_KEY }
  return { name, type, alertTypes, secretRef }
}

function withChannels(channels: readonly KeptChannel[]): SpecChange {
  return { notifications: { channels: channels.map(channelSpecOf) } }
}

function refuseNew(channels: readonly KeptChannel[], name: string): void {
  if (channels.some((one) => one.name === name)) {
    throw new EditRefusedError(
      `The team has a channel ${name} already: choose another name, or delete that one.`,
    )
  }
  if (channels.length >= CHANNELS_MAX) {
    throw new EditRefusedError(`The team has ${CHANNELS_MAX} channels, the most allowed: delete one of them.`)
  }
}
