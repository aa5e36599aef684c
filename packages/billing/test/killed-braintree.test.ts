import { describe } from 'vitest'
import { killEverywhere } from './killed/every-story.ts'

describe('a process killed at any step (threat W5)', () => killEverywhere('braintree'))
