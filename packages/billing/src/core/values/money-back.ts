/**
 * Money that was returned to a customer, with the states that decide whether it counts. Amounts in
 * the currency's smallest unit.
 */
export interface Returned {
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
export function sumReturned({ refunds, disputes, creditNotes }: Returned): number {
  const notes = creditNotes.filter(({ isVoid }) => !isVoid)
  const taken = disputes.filter(({ status }) => status === 'open' || status === 'lost')
  return (
    sum(refunds.map(({ amount, hasFailed }) => (hasFailed ? 0 : amount))) +
    sum(notes.map(({ amount, refunded }) => amount - refunded)) +
    sum(taken.map(({ amount }) => amount))
  )
}

/**
 * Billed time of a subscription and the money behind it. Amounts in the currency's smallest unit.
 */
export interface PaidTime {
  /** Price of the time, minus the provider's credit for unused parts. */
  readonly sold: number
  /** Credit that was charged again because its money had been returned before. */
  readonly withheld: number
  /** Refunds, disputes and credit notes for this time, and the gifts that paid for it. */
  readonly returned: number
}

/** Returns how much of the money for billed time can still go back, as a refund or as credit. */
export function leftOf({ sold, withheld, returned }: PaidTime): number {
  return Math.max(0, sold + withheld - returned)
}

/**
 * Returns how much credit unused time is worth: its price, reduced in proportion to the money that went back, and never more
 * than is left.
 * @param slack Units by which the rounded taxes on credit and charge may differ.
 */
export function creditFor(unused: number, time: PaidTime, slack = 0): number {
  const left = leftOf(time)
  if (left >= time.sold) return Math.min(unused, left)
  const kept = Math.max(0, left - slack)
  const share = Number((BigInt(unused) * BigInt(kept)) / BigInt(time.sold))
  return Math.min(share, kept)
}

/** A share of an amount: its weight, and its maximum. */
export interface Share {
  readonly weight: number
  readonly most: number
}

/**
 * Divides an amount by weight. What exceeds the maximum of one share goes to the others; what none
 * can take is left over.
 */
export function divide(amount: number, shares: readonly Share[]): number[] {
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
