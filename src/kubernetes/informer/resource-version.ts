const DECIMAL = /^[1-9]\d*$/

/**
 * Whether a version is older than another of the same kind. Since Kubernetes 1.35 versions are promised to be decimal
 * numbers that rise; of others nothing is known, and none counts as older.
 */
export function isOlder(version: string, than: string): boolean {
  if (!DECIMAL.test(version) || !DECIMAL.test(than)) return false
  return version.length === than.length ? version < than : version.length < than.length
}
