import { Page } from '../../ui/page.tsx'

export function CronList() {
  return <Page title="Crons">{null}</Page>
}
