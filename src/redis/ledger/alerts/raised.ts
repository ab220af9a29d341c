import type { AlertResourceKind, AlertType } from '../../../domain/alerts/alert.ts'
import type { Metrics } from '../../../ports/metrics.ts'

/** @param raised as `Alerts.store` of alerts/alerts.lua answers: 'type kind count' one after another */
export function countRaised(metrics: Metrics, raised: string): void {
  if (raised === '') return
  const words = raised.split(' ')
  for (let i = 0; i < words.length; i += 3) {
    metrics.alertsRaised(words[i] as AlertType, words[i + 1] as AlertResourceKind, Number(words[i + 2]))
  }
}
