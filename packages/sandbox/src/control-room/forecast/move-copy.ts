import type { Scratch } from '../../scratch/scratch.ts'
import { moveTestClock } from '../../stripe/clocks/move-test-clock.ts'

/** Moves one clock of a copy: a test clock, or the sandbox's own. */
export async function moveCopy(
  scratch: Scratch,
  testClock: string | null,
  until: Date,
): Promise<void> {
  if (testClock === null || !scratch.stripe) await scratch.clock.advanceTo(until)
  else moveTestClock(scratch.stripe, testClock, Math.floor(until.getTime() / 1000))
}
