import { quotaConsumers } from '../create-gate.ts'
import { InvalidUse } from '../errors.ts'
import type { Gate } from '../gate.ts'
import type { Subject } from '../subject.ts'

/** Options of `useUp()`. */
export interface UseUpOptions {
  /** Units to leave. @default 0 */
  readonly leave?: number
}

/**
 * Gives a subject a plan, whatever its subscription is. Takes effect at once on this gate, and within a
 * second on others. `null` ends that.
 * @example
 * await setPlan(gate, { type: 'user', id: 7 }, 'pro')
 */
export async function setPlan(
  gate: Pick<Gate, 'override' | 'removeOverride'>,
  subject: Subject,
  plan: string | null,
): Promise<void> {
  if (plan === null) await gate.removeOverride(subject)
  else await gate.override(subject, { plan })
}

/**
 * Uses up the quota of a subject, so that the next use is refused. Rates are not applied.
 * @throws InvalidUse if the plan of the subject has no quota for the meter
 * @example
 * await useUp(gate, { type: 'user', id: 7 }, 'calls', { leave: 1 })
 */
export async function useUp<MeterName extends string>(
  gate: Gate<MeterName>,
  subject: Subject,
  meter: MeterName,
  { leave = 0 }: UseUpOptions = {},
): Promise<void> {
  const consume = quotaConsumers.get(gate)
  if (!consume) throw new InvalidUse('useUp() needs the object that createGate() has returned')
  await consume(subject, meter, leave)
}
