import { describeSeeds } from './story/seed-suite.ts'

describeSeeds(0, 2)
