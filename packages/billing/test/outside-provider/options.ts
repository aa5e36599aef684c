import type { Ledger } from './ledger.ts'

export interface PaperbackOptions {
  readonly ledger: Ledger
  /** Signs the webhooks. */
  readonly secret: string
  /** Amount of each price, in cents. */
  readonly prices: Readonly<Record<string, number>>
  now(): Date
}
