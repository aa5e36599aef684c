import type { Leases, QuotaTarget } from './leases.ts'

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

/**
 * Creates the allowance for outages. It keeps the admitted use in memory, so a crash during an
 * outage loses it.
 */
export function createOutageAllowance(leases: Pick<Leases, 'force'>): OutageAllowance {
  const admitted = new Map<string, { readonly target: QuotaTarget; amount: number }>()
  const nameOf = ({ subject, meter, window }: QuotaTarget) =>
    `${meter} ${window.startsAt.getTime()} ${subject}`
  return {
    tryAdmit(target, amount, bound) {
      const name = nameOf(target)
      const entry = admitted.get(name) ?? { target, amount: 0 }
      if (entry.amount + amount > bound) return false
      entry.amount += amount
      admitted.set(name, entry)
      return true
    },
    async flush() {
      for (const [name, entry] of admitted) {
        const { target, amount } = entry
        await leases.force(target, amount)
        entry.amount -= amount
        if (entry.amount === 0) admitted.delete(name)
      }
    },
  }
}
