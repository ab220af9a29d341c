import { Page } from '../../ui/page.tsx'

export function CronPage() {
  return <Page title="Cron">{null}</Page>
}
