import type { NotificationChannel, NotificationChannelList } from '../../../clients/typescript/src/client.ts'
import { itemView, listView } from '../output/view.ts'

export const CHANNEL_LIST = listView<NotificationChannelList, NotificationChannel>({
  kind: 'channel',
  items: ({ channels }) => channels,
  id: ({ name }) => name,
  columns: [
    { head: 'CHANNEL', cell: ({ name }) => name },
    { head: 'TYPE', cell: ({ type }) => type },
    { head: 'ALERTS', cell: ({ alert_types: types }) => types.join(', '), isMain: true },
    { head: 'SECRET', cell: secretText, isWide: true },
  ],
})

export const CHANNEL_PAGE = itemView<NotificationChannel>({
  kind: 'channel',
  id: ({ name }) => name,
  lines: (channel) => [
    `channel ${channel.name}: ${channel.type}`,
    `alerts: ${channel.alert_types.join(', ')}`,
    ...(channel.secret_ref === null ? [] : [`secret: ${secretText(channel)}`]),
  ],
})

function secretText({ secret_ref: ref }: NotificationChannel): string {
  return ref === null ? '-' : `${ref.name}:${ref.key}`
}
