import type { StandaloneSettings } from '../settings/role-settings.ts'
export async function runStandalone(_settings: StandaloneSettings): Promise<void> {}
