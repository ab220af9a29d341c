/** The browser that the tests use. */
import { type Browser, chromium } from 'playwright-core'
import { toolObstacle, toolPath } from '../../support/tools.ts'

const FIND = 'chromium.sh'

/** Why there is none; null when there is. */
export function chromiumObstacle(): string | null {
  return toolObstacle(FIND)
}

export function launchChromium(): Promise<Browser> {
  // Root has no sandbox; and nothing may be asked of the Internet.
  const args = ['--no-sandbox', '--disable-background-networking', '--disable-component-update']
  return chromium.launch({ executablePath: toolPath(FIND), args })
}
