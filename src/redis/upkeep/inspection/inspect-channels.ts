import { keyOfTotal } from '../../../domain/notifications/alert-totals.ts'
import type { ChannelState } from '../../../domain/notifications/channel-state.ts'
import { channelRecordIn } from '../../ledger/notifications/channel-record.ts'
import { homeOfChannels, noticeOf } from '../../ledger/notifications/channel-steps.ts'
import { readTotals } from '../../ledger/notifications/team-totals.ts'
import type { InspectedShard } from './inspect-facts.ts'
import { readHash, readSortedSet } from '../../base/engine/paged-reads.ts'

/** Checks the channels that a shard keeps, and its notices. */
export async function inspectChannels(shard: InspectedShard): Promise<void> {
  const { engine, keys, list, find } = shard
  const notices = await readSortedSet(engine, keys.notices)
  const known = new Set<string>()
  for (const team of list.channelTeams) {
    const key = keys.channelStates(team)
    if (homeOfChannels(engine, team).shard !== keys.shard) find(key, 'is not in the home of its team')
    for (const [channel, text] of await readHash(engine, key)) {
      const member = noticeOf({ team, channel })
      known.add(member)
      const record = channelRecordIn(text)
      if (record === null) find(key, `holds ${channel} = ${text}`)
      else await inspectChannel(shard, { team, channel, isDue: notices.has(member), state: record.state })
      if (record !== null && (record.message === null) !== (record.state.delivery === null))
        find(key, `holds ${channel} with a message and no delivery, or the other way round`)
    }
  }
  for (const member of notices.keys()) {
    if (member.includes('/') ? !known.has(member) : !list.alertTeams.has(member))
      find(keys.notices, `names ${member}, which is not there`)
  }
}

async function inspectChannel(
  { engine, keys, find, findMiscount }: InspectedShard,
  at: {
    readonly team: string
    readonly channel: string
    readonly isDue: boolean
    readonly state: ChannelState
  },
): Promise<void> {
  const { team, channel, isDue, state } = at
  const key = keys.channelStates(team)
  if (state.delivery !== null && !isDue)
    find(key, `holds ${channel} with a message on its way that nobody will look at`)
  const { totals } = await readTotals(engine, team)
  for (const total of totals) {
    const told = state.told[keyOfTotal(total)]
    if (told?.[0] === total.born && told[1] > total.total)
      findMiscount(key, `counts ${told[1]} of ${total.fingerprint} as told; there are ${total.total}`)
  }
}
