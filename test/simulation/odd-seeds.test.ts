import { describeSeeds } from './story/seed-suite.ts'

describeSeeds(1, 2)
