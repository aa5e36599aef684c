import fc from 'fast-check'
import type { ProviderName } from '../../src/index.ts'
import { payments } from './money.ts'
import { beginnings, operations } from './operations.ts'
import {
  bankDisputeSteps,
  controlPanelSteps,
  externalSteps,
  lossySteps,
  networkSteps,
} from './outside.ts'
import type { Step } from './step.ts'

/**
 * Histories of up to `maxLength` steps. Most begin with a subscription, because many steps are
 * refused without one.
 */
export function arbitraryHistories(
  provider: ProviderName,
  maxLength: number,
): fc.Arbitrary<Step[]> {
  const rest = fc.array(stepsAt(provider), { minLength: 1, maxLength })
  const begun = fc
    .tuple(fc.constantFrom(...beginnings), rest)
    .map(([first, more]) => [first, ...more])
  return fc.oneof({ arbitrary: begun, weight: 5 }, { arbitrary: rest, weight: 1 })
}

/** Histories of a customer who keeps disputing payments. */
export function arbitraryDisputedHistories(
  provider: ProviderName,
  maxLength: number,
): fc.Arbitrary<Step[]> {
  const disputes = fc.array(fc.constantFrom(...bankDisputeSteps), { minLength: 2, maxLength: 6 })
  return fc
    .tuple(arbitraryHistories(provider, maxLength), disputes)
    .map(([steps, more]) => [
      ...steps.flatMap((step, at) => [step, ...more.slice(at, at + 1)]),
      ...more.slice(steps.length),
    ])
}

function stepsAt(provider: ProviderName): fc.Arbitrary<Step> {
  const oneOf = (steps: readonly Step[]) => fc.constantFrom(...steps)
  return fc.oneof(
    { arbitrary: oneOf(operations[provider]), weight: 8 },
    { arbitrary: oneOf(payments[provider]), weight: 3 },
    { arbitrary: oneOf(externalSteps), weight: 5 },
    { arbitrary: oneOf(networkSteps), weight: 3 },
    { arbitrary: oneOf(controlPanelSteps[provider]), weight: 2 },
    { arbitrary: oneOf(lossySteps), weight: 1 },
  )
}

/** Whether a step loses events. Only histories about lost events may contain these steps. */
export function isLoss({ name }: Step): boolean {
  return lossySteps.some((loss) => loss.name === name)
}
