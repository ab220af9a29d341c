import { drawCronPlan } from './crons/cron-plan.ts'
import { drawRatePlan } from './rates/rate-plan.ts'
import { drawPlan, type Plan } from './story/plan.ts'
import { drawThrowPlan } from './throws/throw-plan.ts'

/** How the story of a seed is drawn, by what a replay calls it. */
export const STORY_KINDS = {
  stories: drawPlan,
  crons: drawCronPlan,
  rates: drawRatePlan,
  throws: drawThrowPlan,
} satisfies Readonly<Record<string, (seed: number) => Plan>>

export type StoryKind = keyof typeof STORY_KINDS
