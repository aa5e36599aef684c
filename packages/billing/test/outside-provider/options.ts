import type { Ledger } from './ledger.ts'

export interface PaperbackOptions {
  readonly ledger: Ledger
  /** Signs the events. */
  readonly secret: string
  /** In cents, by plan. */
  readonly prices: Readonly<Record<string, number>>
  now(): Date
}
