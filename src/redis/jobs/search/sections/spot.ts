/** Where the rest of a section begins. */
export type Spot =
  /** The open jobs after this one, by due time and id. */
  | { readonly kind: 'due'; readonly dueMs: number; readonly id: number }
  /** Open jobs in no order: an HSCAN cursor, and jobs from before it that were found and not listed yet. */
  | { readonly kind: 'scan'; readonly scan: string; readonly found: readonly number[] }
  /** The last of the jobs that were found. */
  | { readonly kind: 'found'; readonly found: readonly number[] }
  /** The dead letters after this one, latest purge first. */
  | { readonly kind: 'purge'; readonly purgeMs: number; readonly id: number }
  /** The finished chains that are left, counted from the oldest, so that new ones do not shift the page. */
  | { readonly kind: 'left'; readonly left: number }
