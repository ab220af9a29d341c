import type { ChannelStore } from '../../../../src/ports/notifications.ts'

/** It knows one channel, ops. */
export function fakeChannels(): ChannelStore {
  const secretRef = { name: 'punctual-channel-07070707', key: 'url' }
  const ops = { name: 'ops', type: 'slack', alertTypes: ['failure'], secretRef } as const
  return {
    list: (team) => Promise.resolve(team === 'default' ? [ops] : []),
    create: (_team, { name, type, alertTypes, url }) =>
      Promise.resolve({ name, type, alertTypes, secretRef: url === null ? null : secretRef }),
    edit: (_team, _name, alertTypes) => Promise.resolve({ ...ops, alertTypes }),
    remove: () => Promise.resolve('removed'),
    whenInForce: () => Promise.resolve(true),
  }
}
