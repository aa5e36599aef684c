import { randomUUID } from 'node:crypto'
import type { Logger } from '../context.ts'
import type { Journal, OutageUse } from './journal.ts'
import type { QuotaTarget } from './leases.ts'

/** Admits a limited amount of use while the database cannot be reached. */
export interface OutageAllowance {
  /**
   * Admits `amount` and returns `true`, unless the subject would exceed `bound` units during this
   * outage.
   */
  tryAdmit(target: QuotaTarget, amount: number, bound: number): boolean
  /** Counts the admitted use once the database can be reached again. Called every second. */
  flush(): Promise<void>
}

interface OutageOptions {
  /** The journal on disk. `null` to keep use in memory, where a crash loses it. */
  readonly journal: Journal | null
  readonly logger: Logger
  /** Counts a use unless its id was counted before. */
  count(use: OutageUse): Promise<unknown>
}

/** Keeps the admitted use in the journal, or in memory. */
export function createOutageAllowance({ journal, logger, count }: OutageOptions): OutageAllowance {
  /** Units that are admitted and not counted yet, by counter. */
  const admitted = new Map<string, number>()
  const kept: OutageUse[] = []

  function keep(use: OutageUse): boolean {
    if (!journal) {
      kept.push(use)
      return true
    }
    try {
      journal.append(use)
      return true
    } catch (error) {
      logger.error('The journal of the gate cannot be written, so nothing is admitted', error)
      return false
    }
  }

  function settle(name: string, amount: number): void {
    const left = (admitted.get(name) ?? 0) - amount
    if (left > 0) admitted.set(name, left)
    else admitted.delete(name)
  }

  return {
    tryAdmit(target, amount, bound) {
      const name = nameOf(target)
      const before = admitted.get(name) ?? 0
      if (before + amount > bound) return false
      if (!keep({ id: `outage:${randomUUID()}`, target, amount })) return false
      admitted.set(name, before + amount)
      return true
    },
    async flush() {
      if (journal) {
        const before = [...admitted]
        await journal.replay(count)
        for (const [name, amount] of before) settle(name, amount)
        return
      }
      for (;;) {
        const [use] = kept
        if (!use) return
        await count(use)
        kept.shift()
        settle(nameOf(use.target), use.amount)
      }
    },
  }
}

const nameOf = ({ subject, meter, window }: QuotaTarget) =>
  `${meter} ${window.startsAt.getTime()} ${subject}`
