/**
 * Money that was returned to a customer: refunds, disputes and credit notes, each with the state
 * that decides whether it counts as returned. Amounts in the currency's smallest unit.
 */
export interface ReturnedMoney {
  readonly refunds: readonly { readonly amount: number; readonly hasFailed: boolean }[]
  readonly disputes: readonly {
    readonly amount: number
    readonly status: 'inquiry' | 'open' | 'won' | 'lost'
  }[]
  readonly creditNotes: readonly {
    readonly amount: number
    /** The part of `amount` that is also listed in `refunds`. */
    readonly refunded: number
    readonly isVoid: boolean
  }[]
}

/**
 * Adds up the returned money. Failed refunds, won disputes and void credit notes do not count; open
 * disputes do.
 */
export function sumReturnedMoney({ refunds, disputes, creditNotes }: ReturnedMoney): number {
  const notes = creditNotes.filter(({ isVoid }) => !isVoid)
  const taken = disputes.filter(({ status }) => status === 'open' || status === 'lost')
  return (
    sum(refunds.map(({ amount, hasFailed }) => (hasFailed ? 0 : amount))) +
    sum(notes.map(({ amount, refunded }) => amount - refunded)) +
    sum(taken.map(({ amount }) => amount))
  )
}

/**
 * A billed period of a subscription, with the money that was paid and returned for it. Amounts in
 * the currency's smallest unit.
 */
export interface PaidTime {
  /** Amount charged for the period: its price, minus the provider's credit for unused parts. */
  readonly sold: number
  /**
   * Credit for unused time that billing charged back, because the payment for that time had already
   * been returned.
   */
  readonly withheld: number
  /**
   * Sum of the refunds, disputes and credit notes for the period, and of the gifts (credit that the
   * merchant granted) that paid for it.
   */
  readonly returned: number
}

/**
 * Returns how much of the money paid for a period can still be returned, as a refund or as credit.
 */
export function computeRemainingMoney({ sold, withheld, returned }: PaidTime): number {
  return Math.max(0, sold + withheld - returned)
}

/**
 * Returns the credit for unused time: the price of that time, reduced in proportion to the money
 * that was already returned, and never more than the money that was not returned.
 * @param slack Units by which the rounded taxes on credit and charge may differ.
 */
export function computeUnusedTimeCredit(unused: number, time: PaidTime, slack = 0): number {
  const left = computeRemainingMoney(time)
  if (left >= time.sold) return Math.min(unused, left)
  const kept = Math.max(0, left - slack)
  const share = Number((BigInt(unused) * BigInt(kept)) / BigInt(time.sold))
  return Math.min(share, kept)
}

/** A share of an amount: its weight, and its maximum. */
export interface WeightedShare {
  readonly weight: number
  readonly most: number
}

/**
 * Divides an amount between shares in proportion to their weights. The part that exceeds a share's
 * maximum goes to the other shares. If all shares reach their maximum, the rest stays undivided.
 */
export function divideAmount(amount: number, shares: readonly WeightedShare[]): number[] {
  const taken = shares.map(() => 0)
  const room = (at: number) => (shares[at]?.most ?? 0) - (taken[at] ?? 0)
  for (let rest = amount; rest > 0; ) {
    const open = shares.flatMap(({ weight }, at) => (weight > 0 && room(at) > 0 ? [at] : []))
    const weights = sum(open.map((at) => shares[at]?.weight ?? 0))
    if (open.length === 0) break
    let spread = 0
    for (const at of open) {
      const part = Math.ceil((rest * (shares[at]?.weight ?? 0)) / weights)
      const given = Math.min(part, room(at), rest - spread)
      taken[at] = (taken[at] ?? 0) + given
      spread += given
    }
    rest -= spread
  }
  return taken
}

function sum(amounts: readonly number[]): number {
  return amounts.reduce((total, each) => total + each, 0)
}
