import { IS_FOR_TESTS } from '../session/page.ts'
import { Icon } from '../ui/icon.tsx'

/** On top of every screen of an installation for tests: times there are not those of the browser. */
export function TestClockBanner() {
  if (!IS_FOR_TESTS) return null
  return (
    <section class="test-clock-banner" aria-label="Test clock">
      <Icon name="window" />
      <span>
        This installation is for tests: it goes by a test clock, so its times may lie ahead of yours.
      </span>
    </section>
  )
}
