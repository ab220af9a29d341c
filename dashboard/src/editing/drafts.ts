/** What differs between two drafts. */
export interface Changes<Edit> {
  /** The edit for the API, which judges the values. */
  readonly edit: Edit
  /** How many settings that is, as people count them. */
  readonly count: number
  /** What can be said before the server is asked, by the names of fields. */
  readonly mistakes?: Readonly<Partial<Record<string, string>>>
}

/** The fields of a form that differ, such as those that its user has changed. */
export function changedIn<Draft extends object>(before: Draft, draft: Draft): ReadonlyArray<keyof Draft> {
  return (Object.keys(before) as Array<keyof Draft>).filter(
    (name) => JSON.stringify(draft[name]) !== JSON.stringify(before[name]),
  )
}

/** A draft on newer settings: what was not touched in it is as it is now. */
export function rebased<Draft extends object>(before: Draft, draft: Draft, now: Draft): Draft {
  const touched = changedIn(before, draft).map((name) => [name, draft[name]])
  return { ...now, ...(Object.fromEntries(touched) as Partial<Draft>) }
}
