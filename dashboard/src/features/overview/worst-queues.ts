/** The queues that the overview looks at. The answer also says what all queues hold together, and is read once for both. */
export const WORST_QUEUES = { sort: 'trouble', limit: 1_000 } as const
