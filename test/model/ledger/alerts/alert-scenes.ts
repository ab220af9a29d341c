import { createAlertStore } from '../../../../src/redis/ledger/alerts/alert-store.ts'
import type { StepName } from '../../../../src/redis/steps.ts'
import type { Scene } from '../../cluster/tear-scenes.ts'
import { ANY, storeAlerts } from './stored-alerts.ts'

/** The steps that only alerts have. */
export const ALERT_SCENES: ReadonlyArray<readonly [StepName, string, Scene]> = (
  ['read', 'remove'] as const
).map((change) => [
  'change_alerts',
  `an unread alert and one that is read: ${change}`,
  async ({ world, client }) => {
    await storeAlerts(world.engine, client, [{ number: 1 }, { number: 2, isRead: true }])
    const store = createAlertStore(world.engine)
    return () => (change === 'read' ? store.markAllRead('default', ANY) : store.removeAll('default', ANY))
  },
])
