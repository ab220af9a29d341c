/** A CronJob that no HttpCron can do the work of. The message completes `shop/nightly: …`. */
export class NotTaken extends Error {}
