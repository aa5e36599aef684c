import { describe } from 'vitest'
import { killEverywhere } from './killed/every-story.ts'

describe('threat W5 a process killed at any step', () => killEverywhere('stripe'))
