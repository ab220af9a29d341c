import { DEFAULT_CRON_SETTINGS, type CronSettings } from '../../../src/domain/crons/cron.ts'

/** A cron that ticks every minute. */
export function cronSettings(change: Partial<CronSettings> = {}): CronSettings {
  return {
    ...DEFAULT_CRON_SETTINGS,
    displayName: 'nightly',
    url: 'http://target.test/',
    cronExpression: '* * * * *',
    ...change,
  }
}
