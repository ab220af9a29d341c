const SLUG_CHARACTERS_MAX = 48

/** What of a name may stand in a `metadata.name`; '' when nothing of it may. */
export function slugOf(name: string): string {
  return name
    .normalize('NFKD')
    .toLowerCase()
    .replaceAll(/[^a-z0-9]+/g, '-')
    .slice(0, SLUG_CHARACTERS_MAX)
    .replaceAll(/^-+|-+$/g, '')
}
