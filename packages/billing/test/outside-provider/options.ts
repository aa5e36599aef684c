import type { Ledger } from './ledger.ts'

export interface PaperbackOptions {
  readonly ledger: Ledger
  /** Signs the webhooks. */
  readonly secret: string
  /** Price of each plan, in cents. */
  readonly prices: Readonly<Record<string, number>>
  now(): Date
}
