const SLUG_CHARACTERS_MAX = 48

/** Keeps the characters of a name that are valid in `metadata.name`; '' = none is. */
export function slugOf(name: string): string {
  return name
    .normalize('NFKD')
    .toLowerCase()
    .replaceAll(/[^a-z0-9]+/g, '-')
    .slice(0, SLUG_CHARACTERS_MAX)
    .replaceAll(/^-+|-+$/g, '')
}
