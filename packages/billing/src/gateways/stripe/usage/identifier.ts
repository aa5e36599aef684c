import { createHash } from 'node:crypto'
import type { DroppedReport, SentEvent } from '../../contract/parts/money/usage.ts'

/**
 * What an event is called at Stripe. Two applications may share an account, and both have a user 7 with a "job 1": their
 * customers differ.
 */
export function identifierOf({ id, customerId }: Pick<SentEvent, 'id' | 'customerId'>): string {
  return `${id}_${markOf(customerId)}`
}

/** The event of ours that is called so; null for somebody else's. */
export function readIdentifier(identifier: string): Pick<DroppedReport, 'id' | 'isOf'> | null {
  const [, id, mark] = /^(usage_[0-9a-f]+)_([0-9a-f]{24})$/.exec(identifier) ?? []
  if (id === undefined) return null
  return { id, isOf: (customerId) => markOf(customerId) === mark }
}

function markOf(customerId: string): string {
  return createHash('sha256').update(customerId).digest('hex').slice(0, 24)
}
