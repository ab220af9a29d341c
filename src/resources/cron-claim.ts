/** Keeps a deleted HttpCron until its cron is gone from the engine. */
export const CRON_FINALIZER = 'punctual.dev/cron'
