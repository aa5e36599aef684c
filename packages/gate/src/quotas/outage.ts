import type { Leases, QuotaTarget } from './leases.ts'

/** Use that is admitted while the database cannot be reached, up to the bound of its meter. */
export interface OutageAllowance {
  /** Admits `amount` if the subject stays within `bound` until the database is back. */
  tryAdmit(target: QuotaTarget, amount: number, bound: number): boolean
  /** Counts what was admitted, as soon as the database is back. Called every second. */
  flush(): Promise<void>
}

/** Keeps the admitted use in memory: a crash during an outage loses it. */
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
